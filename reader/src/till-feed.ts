import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ReaderEvent } from './pcsc/readers.ts';
import { ProtocolError } from './protocols/apdu.ts';
import { type ProveCollector, proofFrom, proofOf } from './protocols/collector.ts';

/**
 * The reader of a till that runs in a browser of the same machine. The till's page connects to a
 * port of this machine and is told what the reader sees; what becomes of a tap is its business.
 *
 * Only pages of the network that it was paired with are let in, only with the code that the till
 * shows or with the token that this code was changed into, and only one at a time: the newest.
 */
export interface TillFeed {
  readonly port: number;
  /** Tells the till, if one is connected. A tap without a till is dropped: it pays nothing. */
  tell(event: ReaderEvent): void;
  /** Asks the till what a chip with this key signs. null: nothing, or no till answers in time. */
  toSign(publicKey: Uint8Array): Promise<Uint8Array | null>;
  /** Asks the till to have a tap of a phone signed by its network. */
  readonly proveCollector: ProveCollector;
  close(): Promise<void>;
}

export interface TillFeedOptions {
  /** 0: one that is free. */
  readonly port: number;
  /** `https://pay.example.com`: the network's pages. */
  readonly origin: string;
  /** The code that the till shows, which is good once; null: it was used. */
  readonly code: string | null;
  /** The hash of the token that the till got for its code, in hex; null: it has none yet. */
  readonly tokenHash: string | null;
  /** A till has used the code. What it gets from now on has to be kept first. */
  readonly onPaired: (tokenHash: string) => Promise<void>;
  readonly onTill: (isThere: boolean) => void;
}

/** A page says who it is at once; a socket that says nothing is nobody's till. */
const HELLO_MS = 2000;
/** A hello is short, and so is what a chip signs, and a signature. */
const LONGEST_MESSAGE = 512;
/** The till asks its server meanwhile, and somebody holds a chip against the reader. */
const TO_SIGN_MS = 3000;
/** A whole tap of a phone may take two seconds. */
const TO_PROVE_MS = 1500;
/** A code has 40 bits: nobody finds it at this pace. */
const MOST_WRONG = 5;
const WRONG_FOR_MS = 60_000;
/** How the page learns why it was let go; the numbers are free for programs to use. */
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
    // A page of another address never gets so far, whatever it knows.
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

/** The one page that is served. */
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

  /** null: no till is here, or it does not answer in time. */
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
  /** In exchange for the code. */
  readonly token?: string;
}

/** Judges who knocks. @returns what to say to the till, or the number to close with. */
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

/** null: the till has nothing to be signed. */
function digestIn(text: string): Uint8Array | null {
  const [, hex] = /^\{"sign":"([0-9a-f]{64})"\}$/.exec(text) ?? [];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/** null: Smart Tap is off for this till. @throws ProtocolError when the till did not say. */
function proofIn(text: string | null): ReturnType<typeof proofOf> | null {
  if (text === '{"proof":null}') return null;
  try {
    return proofOf((JSON.parse(text ?? '') as { readonly proof?: unknown }).proof);
  } catch {
    throw new ProtocolError('the till did not answer');
  }
}

/** In the same time whatever differs. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(a), 'hex'), Buffer.from(hashOf(b), 'hex'));
}
