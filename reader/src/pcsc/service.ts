import { createConnection, type Socket } from 'node:net';
import { CardGone } from '../protocols/apdu.ts';

/**
 * Client for the PC/SC service of Linux (pcscd) over its socket: fixed-size messages in the
 * machine's byte order. Using the socket needs no native code, so the package installs anywhere.
 * The layout is protocol 4.4, which pcscd 1.9 implements and 2.x still accepts.
 */

export const PCSCD_SOCKET = '/run/pcscd/pcscd.comm';

export interface ReaderState {
  readonly name: string;
  readonly cardPresent: boolean;
  /** Counts card insertions and removals. */
  readonly events: number;
}

/** Thrown if the service refused, with PC/SC's 32-bit error code. */
export class PcscError extends Error {
  readonly code: number;

  constructor(step: string, code: number) {
    super(`${step}: ${code.toString(16)}`);
    this.name = 'PcscError';
    this.code = code;
  }
}

/** Thrown if the service is not running, or closed the connection. */
export class PcscGone extends Error {
  constructor(options?: ErrorOptions) {
    super('the PC/SC service does not answer', options);
    this.name = 'PcscGone';
  }
}

/** Error code for a card that cannot be powered up; usually there are two cards at once. */
export const UNRESPONSIVE = 0x80100066;

const COMMAND = {
  establish: 0x01,
  connect: 0x04,
  disconnect: 0x06,
  transmit: 0x09,
  version: 0x11,
  readerStates: 0x12,
  waitForChange: 0x13,
} as const;
const VERSION = [4, 4] as const;
const SCOPE_SYSTEM = 2;
const SHARE_SHARED = 2;
const ANY_PROTOCOL = 3;
const RESET_CARD = 1;
const CARD_PRESENT = 0x04;
const REMOVED = [
  0x80100069, 0x80100068, 0x80100067, 0x80100016, 0x80100017, 0x80100009, 0x8010000c,
];
const NAME_BYTES = 128;
const STATE_BYTES = 184;
const STATES_BYTES = STATE_BYTES * 16;
const CHANGE_BYTES = 8;
const CONNECT_BYTES = 152;
const TRANSMIT_BYTES = 32;
/** The header before a command in PC/SC: two machine words. */
const PCI_BYTES = 16;
const LONGEST_ANSWER = 264;

export interface Card {
  transceive(command: Uint8Array): Promise<Uint8Array>;
  end(): Promise<void>;
}

/** One session with the service. Its requests are sent one at a time. */
export class PcscSession {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #waiting: { bytes: number; take: (body: Buffer) => void; fail: (e: Error) => void } | null = null;
  #ended: Error | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #context = 0;
  /** The notification of a change for which this session currently waits. */
  #change: Promise<Buffer> | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#deliver();
    });
    const end = (cause?: Error) => this.#end(new PcscGone({ cause }));
    socket.on('error', end);
    socket.on('close', () => end());
  }

  static async open(path: string): Promise<PcscSession> {
    const session = new PcscSession(createConnection({ path }));
    await session.#ask(COMMAND.version, words(...VERSION, 0), 12);
    const established = await session.#ask(COMMAND.establish, words(SCOPE_SYSTEM, 0, 0), 12);
    check('establish', established.readUInt32LE(8));
    session.#context = established.readUInt32LE(4);
    return session;
  }

  close(): void {
    this.#end(new PcscGone());
    this.#socket.destroy();
  }

  async readerStates(): Promise<readonly ReaderState[]> {
    return statesIn(await this.#ask(COMMAND.readerStates, Buffer.alloc(0), STATES_BYTES));
  }

  /**
   * Resolves with the current states once they differ from `since`. Send no other request on this
   * session meanwhile, because the notification arrives unsolicited.
   */
  async nextChange(since: readonly ReaderState[]): Promise<readonly ReaderState[]> {
    if (this.#change === null) {
      const now = statesIn(await this.#ask(COMMAND.waitForChange, Buffer.alloc(0), STATES_BYTES));
      this.#change = this.#expect(CHANGE_BYTES);
      this.#change.catch(() => undefined);
      // The state changed before the service began to watch.
      if (JSON.stringify(now) !== JSON.stringify(since)) return now;
    }
    await this.#change;
    this.#change = null;
    return this.readerStates();
  }

  async connect(reader: string): Promise<Card> {
    const request = Buffer.alloc(CONNECT_BYTES);
    request.writeUInt32LE(this.#context, 0);
    request.write(reader, 4, NAME_BYTES - 1, 'utf8');
    request.writeUInt32LE(SHARE_SHARED, 132);
    request.writeUInt32LE(ANY_PROTOCOL, 136);
    const answer = await this.#ask(COMMAND.connect, request, CONNECT_BYTES);
    check('connect', answer.readUInt32LE(148));
    const handle = answer.readUInt32LE(140);
    const protocol = answer.readUInt32LE(144);
    return {
      transceive: (command) => this.#transmit(handle, protocol, command),
      end: async () => {
        await this.#ask(COMMAND.disconnect, words(handle, RESET_CARD, 0), 12);
      },
    };
  }

  #transmit(handle: number, protocol: number, command: Uint8Array): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const head = words(handle, protocol, PCI_BYTES, command.length, protocol, PCI_BYTES);
      this.#write(COMMAND.transmit, Buffer.concat([head, words(LONGEST_ANSWER, 0)]), command);
      const answer = await this.#expect(TRANSMIT_BYTES);
      check('transmit', answer.readUInt32LE(28));
      return Uint8Array.from(await this.#expect(answer.readUInt32LE(24)));
    });
  }

  #ask(command: number, body: Buffer, answerBytes: number): Promise<Buffer> {
    return this.#inTurn(() => {
      this.#write(command, body);
      return this.#expect(answerBytes);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** `behind` follows the message and is not counted in its length. */
  #write(command: number, body: Buffer, behind: Uint8Array = new Uint8Array()): void {
    if (this.#ended !== null) return;
    this.#socket.write(Buffer.concat([words(body.length, command), body, behind]));
  }

  #expect(bytes: number): Promise<Buffer> {
    return new Promise((take, fail) => {
      if (this.#ended !== null) return fail(this.#ended);
      this.#waiting = { bytes, take, fail };
      this.#deliver();
    });
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.#received.length < waiting.bytes) return;
    const body = this.#received.subarray(0, waiting.bytes);
    this.#received = this.#received.subarray(waiting.bytes);
    this.#waiting = null;
    waiting.take(body);
  }

  #end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#waiting?.fail(error);
    this.#waiting = null;
  }
}

function statesIn(body: Buffer): ReaderState[] {
  const states: ReaderState[] = [];
  for (let at = 0; at < STATES_BYTES; at += STATE_BYTES) {
    const name = body.subarray(at, at + NAME_BYTES);
    const end = name.indexOf(0);
    if (end === 0) continue;
    states.push({
      name: name.subarray(0, end).toString('utf8'),
      events: body.readUInt32LE(at + NAME_BYTES),
      cardPresent: (body.readUInt32LE(at + NAME_BYTES + 4) & CARD_PRESENT) !== 0,
    });
  }
  return states;
}

function check(step: string, code: number): void {
  if (code === 0) return;
  const error = new PcscError(step, code);
  throw REMOVED.includes(code) ? new CardGone({ cause: error }) : error;
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt32LE(value >>> 0, index * 4);
  });
  return bytes;
}
