import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ReaderEvent } from './pcsc/readers.ts';
import { ProtocolError } from './protocols/apdu.ts';
import { type ProveCollector, proofFrom, proofOf } from './protocols/prove-collector.ts';

/**
 * Serves a till in a browser on the same machine. The till's page connects to a local port,
 * receives what the reader reads, and handles the tap.
 *
 * Only pages of the paired network may connect, and only with the code that the till shows or the
 * token that replaced it. A new connection replaces the previous one.
 */
export interface TillFeed {
  readonly port: number;
  /** Sends the event to the connected till. Without one, a tap is dropped and pays nothing. */
  tell(event: ReaderEvent): void;
  /**
   * Asks the till for the digest for this key.
   * @returns `null` if there is none, or if no till answers in time.
   */
  toSign(publicKey: Uint8Array): Promise<Uint8Array | null>;
  /** Asks the till's network to sign a phone's tap. */
  readonly proveCollector: ProveCollector;
  close(): Promise<void>;
}

export interface TillFeedOptions {
  /** 0 chooses a free port. */
  readonly port: number;
  /** Origin of the network's pages, for example `https://pay.example.com`. */
  readonly origin: string;
  /** The single-use code that the till shows, or `null` once it was used. */
  readonly code: string | null;
  /** Hash of the till's token, in hex, or `null` if it has none yet. */
  readonly tokenHash: string | null;
  /**
   * Called when a till has used the code. The token's hash must be stored before the till receives
   * it.
   */
  readonly onPaired: (tokenHash: string) => Promise<void>;
  readonly onTill: (isThere: boolean) => void;
}

/**
 * Time limit for a page to identify itself, which it does right after connecting. A connection that
 * stays silent is not a till.
 */
const HELLO_MS = 2000;
/** Longer than a hello, a digest or a signature. */
const LONGEST_MESSAGE = 512;
/**
 * Time limit for a digest, which the till requests from its server while the customer holds a chip
 * to the reader.
 */
const TO_SIGN_MS = 3000;
/** Time limit for a proof, shorter than the two seconds that a phone's whole tap may take. */
const TO_PROVE_MS = 1500;
/** Maximum number of wrong codes. A code has 40 bits, so this few guesses will not find it. */
const MOST_WRONG = 5;
const WRONG_FOR_MS = 60_000;
/** Close codes for the page, from the range for applications. */
export const CLOSED = { refused: 4401, replaced: 4409, tooOften: 4429 } as const;

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export async function openTillFeed(options: TillFeedOptions): Promise<TillFeed> {
  const seat = new Seat(options.onTill);
  const judge = createDoor(options);
  const greet = async (socket: WebSocket, hello: Hello) => {
    const verdict = await judge(hello);
    if (typeof verdict === 'number') socket.close(verdict);
    else seat.take(socket, verdict);
  };
  const server = createServer((_, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    path: '/till',
    maxPayload: LONGEST_MESSAGE,
    // Rejects pages of other origins, whatever they send.
    verifyClient: ({ origin }: { origin: string }) => origin === options.origin,
  });
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate());
    const late = setTimeout(() => socket.close(CLOSED.refused), HELLO_MS).unref();
    socket.once('message', (data) => {
      clearTimeout(late);
      greet(socket, readHello(String(data))).catch(() => socket.terminate());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    tell: (event) => seat.tell(event),
    toSign: async (publicKey) => {
      const public_key = Buffer.from(publicKey).toString('hex');
      const answer = await seat.ask({ status: 'chip', public_key }, TO_SIGN_MS);
      return answer === null ? null : digestIn(answer);
    },
    proveCollector: async (tap) => {
      const answer = await seat.ask({ status: 'phone', ...proofFrom(tap) }, TO_PROVE_MS);
      return proofIn(answer);
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Holds the connection of the till that is currently served. */
class Seat {
  readonly #onTill: TillFeedOptions['onTill'];
  #till: WebSocket | null = null;
  #answer: ((text: string | null) => void) | null = null;
  #last: ReaderEvent = { status: 'no_reader' };

  constructor(onTill: TillFeedOptions['onTill']) {
    this.#onTill = onTill;
  }

  take(socket: WebSocket, welcome: Welcome): void {
    this.#till?.close(CLOSED.replaced);
    this.#till = socket;
    socket.once('close', () => {
      if (this.#till !== socket) return;
      this.#till = null;
      this.#answer?.(null);
      this.#onTill(false);
    });
    socket.on('message', (data) => {
      if (this.#till === socket) this.#answer?.(String(data));
    });
    socket.send(JSON.stringify(welcome));
    socket.send(JSON.stringify(this.#last));
    this.#onTill(true);
  }

  /** Asks the till. @returns `null` if no till is connected, or if it does not answer in time. */
  async ask(question: object, waitMs: number): Promise<string | null> {
    const till = this.#till;
    if (till === null) return null;
    const answered = new Promise<string | null>((resolve) => {
      this.#answer = resolve;
    });
    const late = setTimeout(() => this.#answer?.(null), waitMs);
    till.send(JSON.stringify(question));
    const answer = await answered;
    clearTimeout(late);
    this.#answer = null;
    return answer;
  }

  tell(event: ReaderEvent): void {
    if (event.status !== 'tapped') this.#last = event;
    this.#till?.send(JSON.stringify(event));
  }
}

interface Welcome {
  readonly status: 'welcome';
  /** The token that the page gets in exchange for the code. */
  readonly token?: string;
}

/**
 * Returns a function that checks a hello. It returns the message for an accepted till, or the code
 * with which to close the connection.
 */
function createDoor(options: TillFeedOptions): (hello: Hello) => Promise<Welcome | number> {
  let { code, tokenHash } = options;
  let wrong: readonly number[] = [];
  return async (hello) => {
    const now = performance.now();
    wrong = wrong.filter((at) => now - at < WRONG_FOR_MS);
    if (wrong.length >= MOST_WRONG) return CLOSED.tooOften;
    if (hello.code !== undefined && code !== null && isSame(hello.code, code)) {
      code = null;
      const token = randomBytes(32).toString('base64url');
      tokenHash = hashOf(token);
      await options.onPaired(tokenHash);
      return { status: 'welcome', token };
    }
    const isKnown =
      hello.token !== undefined && tokenHash !== null && isSame(hashOf(hello.token), tokenHash);
    if (isKnown) return { status: 'welcome' };
    wrong = [...wrong, now];
    return CLOSED.refused;
  };
}

interface Hello {
  readonly code?: string;
  readonly token?: string;
}

function readHello(text: string): Hello {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null) return {};
    const { code, token } = read as Record<string, unknown>;
    return {
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof token === 'string' ? { token } : {}),
    };
  } catch {
    return {};
  }
}

/** Parses the digest. @returns `null` if the till has nothing to sign. */
function digestIn(text: string): Uint8Array | null {
  const [, hex] = /^\{"sign":"([0-9a-f]{64})"\}$/.exec(text) ?? [];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/**
 * @returns `null` if Smart Tap is off for this till.
 * @throws ProtocolError if the till did not answer.
 */
function proofIn(text: string | null): ReturnType<typeof proofOf> | null {
  if (text === '{"proof":null}') return null;
  try {
    return proofOf((JSON.parse(text ?? '') as { readonly proof?: unknown }).proof);
  } catch {
    throw new ProtocolError('the till did not answer');
  }
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(a), 'hex'), Buffer.from(hashOf(b), 'hex'));
}
