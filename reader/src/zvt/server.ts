import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type BlockList, createServer, isIPv6, type Socket } from 'node:net';
import type { DeviceApi } from '../device-api.ts';
import { lockRegister, readRegister, saveRegister } from '../till-settings.ts';
import { newConversation, step } from './conversation.ts';
import type { Conversation, Effect, Observation } from './conversation-state.ts';
import type { Scales } from './price-of-amount.ts';
import { beginsCommand, UNREGISTERED } from './read-command.ts';
import { Sales } from './sell-and-refund.ts';
import { isUnknownSale, NOTHING_STORED, type Stored } from './stored-results.ts';
import { type Frame, frameBytes, readFrame } from './zvt-frames.ts';

/** The port at which registers expect a terminal. */
export const ZVT_PORT = 20007;
/** Interval of ticks, for intermediate status and time-outs. */
const TICK_MS = 200;
/** Time limit for the rest of a frame after its first byte. */
const FRAME_MS = 5_000;
/** Maximum number of waiting observations. A register that floods the terminal is disconnected. */
const MOST_WAITING = 1_000;
/**
 * Maximum number of connections without a register's frame, such as health checks. Above it, the
 * oldest one is closed.
 */
const MOST_SILENT = 20;
/** Maximum number of unsent bytes, for a register that does not read. */
const MOST_UNSENT = 65_536;

export interface RegisterOptions {
  readonly api: DeviceApi;
  /** The terminal's id. Eight digits of its hash are the terminal's number. */
  readonly terminal: string;
  readonly host: string;
  readonly port: number;
  /** Path of the file that stores the state. */
  readonly file: string;
  /** The register's own time-out. */
  readonly timeoutMs: number;
  /** The addresses that may connect; without them, all that reach the port. */
  readonly peers?: BlockList | undefined;
  /** The six digits that the register must send; without them, any digits will do. */
  readonly password?: string | undefined;
  /** Decimals of its amounts in currencies that registers send in different scales. */
  readonly scales?: Scales | undefined;
  readonly signal: AbortSignal;
  readonly onRegister: (isConnected: boolean) => void;
  /** Called when the state cannot be written, after which no money may move. */
  readonly onFault: (error: unknown) => void;
}

export interface RegisterServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves one cash register over TCP. A connection counts from its first complete command on. Until
 * then it changes nothing: a port scan, a health check or a web page is no register.
 */
export async function serveRegister(options: RegisterOptions): Promise<RegisterServer> {
  let desk: Desk | null = null;
  const server = createServer({ noDelay: true }, (socket) => {
    // Disconnects until the state has been read. The register connects again.
    if (desk === null || !isPeer(options.peers, socket)) socket.on('error', () => {}).destroy();
    else desk.take(socket);
  });
  server.listen(options.port, options.host);
  // A second reader fails here. Only the reader that holds the port may sell or cancel.
  await once(server, 'listening');
  server.on('error', options.onFault);
  let release = () => {};
  const opened = await lockRegister(options.file)
    .then((lock) => {
      release = lock;
      return openDesk(options);
    })
    .catch((error: unknown) => {
      release();
      server.close();
      throw error;
    });
  desk = opened;
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await opened.close();
      await closed;
      release();
    },
  };
}

function isPeer(peers: BlockList | undefined, { remoteAddress = '' }: Socket): boolean {
  // A link-local address names its interface.
  const address = remoteAddress.replace(/%.*/, '');
  return peers === undefined || peers.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

async function openDesk(options: RegisterOptions): Promise<Desk> {
  const saved = await readRegister<Saved>(options.file);
  // A reader that has since been paired with another terminal must not continue this sale.
  const isOwn = saved !== null && saved.terminal === options.terminal;
  // A file of an earlier version lacks the newer fields.
  return new Desk(options, { ...NOTHING_STORED(UNREGISTERED), ...(isOwn ? saved : {}) });
}

type Saved = Stored & { readonly terminal: string };

interface Waiting {
  readonly observation: Observation;
  readonly socket: Socket | null;
}

/**
 * Runs the conversation: handles one observation after another, and each one's effects in order.
 */
class Desk {
  readonly #options: RegisterOptions;
  readonly #sales: Sales;
  readonly #end = new AbortController();
  readonly #ticks: NodeJS.Timeout;
  #conversation: Conversation;
  /** All open connections, those that have not sent a frame yet, and the register's. */
  readonly #open = new Set<Socket>();
  readonly #silent = new Set<Socket>();
  #speaking: Socket | null = null;
  #waiting: Waiting[] = [];
  #running: Promise<void>;

  constructor(options: RegisterOptions, stored: Stored) {
    this.#options = options;
    const { api, terminal, timeoutMs, password = null, scales = {}, signal } = options;
    signal.addEventListener('abort', () => this.#end.abort());
    if (signal.aborted) this.#end.abort();
    const report = (observation: Observation) => this.#observe(observation);
    this.#sales = new Sales({ api, signal: this.#end.signal, report });
    const begun = newConversation(stored, {
      terminal: digitsOf(terminal),
      timeoutMs,
      password,
      scales,
    });
    this.#conversation = begun.next;
    this.#running = this.#run(begun.effects);
    this.#ticks = setInterval(() => this.#observe({ type: 'tick' }), TICK_MS);
  }

  take(socket: Socket): void {
    this.#open.add(socket);
    this.#silent.add(socket);
    const [oldest] = this.#silent;
    if (this.#silent.size > MOST_SILENT) oldest?.destroy();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#silent.delete(socket);
      this.#observe({ type: 'cut' }, socket);
    });
    this.#read(socket);
  }

  #read(socket: Socket): void {
    let bytes: Uint8Array = new Uint8Array();
    let late: NodeJS.Timeout | undefined;
    socket.once('close', () => clearTimeout(late));
    const onLate = () => {
      // A damaged frame ends no sale that waits.
      if (this.#hasSale(socket)) bytes = new Uint8Array();
      else socket.destroy();
    };
    socket.on('data', (chunk: Buffer) => {
      if (socket.destroyed) return;
      let isNew = bytes.length === 0;
      bytes = isNew ? chunk : Buffer.concat([bytes, chunk]);
      if (this.#silent.has(socket) && !beginsCommand(bytes)) return socket.destroy();
      for (let read = readFrame(bytes); read !== null; read = readFrame(bytes)) {
        bytes = bytes.subarray(read.length);
        isNew = true;
        this.#receive(read.frame, socket);
        if (socket.destroyed) return;
      }
      // The time limit counts from a frame's first byte, even if the other bytes arrive slowly.
      if (isNew) clearTimeout(late);
      if (isNew && bytes.length > 0) late = setTimeout(onLate, FRAME_MS);
    });
  }

  #receive(frame: Frame, socket: Socket): void {
    const { remoteAddress: peer = '' } = socket;
    const isFirst = this.#silent.delete(socket);
    this.#observe(isFirst ? { type: 'connected', peer, frame } : { type: 'frame', frame }, socket);
    if (this.#waiting.length <= MOST_WAITING) return;
    // A flood ends no sale that waits: the register is read again when its frames are answered.
    if (this.#hasSale(socket)) socket.pause();
    else this.#drop(socket);
  }

  /** True if the register at this connection waits for a sale. */
  #hasSale(socket: Socket): boolean {
    return this.#speaking === socket && isUnknownSale(this.#conversation.stored.sale);
  }

  /** Disconnects a register that floods the terminal, and drops its waiting frames. */
  #drop(socket: Socket): void {
    socket.destroy();
    // Keeps the first observation, which is being handled.
    this.#waiting = this.#waiting.filter(
      (one, index) => index === 0 || one.socket !== socket || one.observation.type !== 'frame',
    );
  }

  #observe(observation: Observation, socket: Socket | null = null): void {
    // One waiting tick is enough.
    if (
      observation.type === 'tick' &&
      this.#waiting.some(({ observation: { type } }) => type === 'tick')
    )
      return;
    const isIdle = this.#waiting.length === 0;
    this.#waiting.push({ observation, socket });
    if (isIdle) this.#running = this.#running.then(() => this.#run([]));
  }

  async #run(first: readonly Effect[]): Promise<void> {
    try {
      for (const effect of first) await this.#carryOut(effect);
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        if (this.#end.signal.aborted) return;
        if (this.#isCurrent(next)) {
          const given = { now: Date.now(), id: randomUUID() };
          const { next: after, effects } = step(this.#conversation, next.observation, given);
          this.#conversation = after;
          for (const effect of effects) await this.#carryOut(effect, next.socket);
        }
        this.#waiting.shift();
      }
      this.#speaking?.resume();
    } catch (error) {
      // If the state cannot be stored, the desk reports no result and sells nothing.
      this.#end.abort();
      this.#speaking?.destroy();
      this.#options.onFault(error);
    }
  }

  /** Returns false for an observation of a connection that is not the register's. */
  #isCurrent({ observation, socket }: Waiting): boolean {
    if (socket === null || observation.type === 'connected') return true;
    if (this.#speaking !== socket) return false;
    if (observation.type === 'cut') this.#seat(null);
    return true;
  }

  #seat(socket: Socket | null): void {
    this.#speaking?.destroy();
    this.#speaking = socket;
    this.#options.onRegister(socket !== null);
  }

  /** Carries out an effect. @param from The connection whose frame caused it. */
  async #carryOut(effect: Effect, from: Socket | null = null): Promise<void> {
    switch (effect.type) {
      case 'seat':
        return this.#seat(from);
      case 'turn_away':
        from?.end(frameBytes(effect.frame), () => from.destroy());
        return;
      case 'save':
        return saveRegister(this.#options.file, this.#saved(effect.stored));
      case 'send':
        this.#send(frameBytes(effect.frame));
        return;
      case 'hang_up':
        this.#speaking?.destroy();
        return;
      case 'cancel':
        return this.#sales.cancel(effect.key);
      default:
        this.#ask(effect).catch((error: unknown) => this.#options.onFault(error));
    }
  }

  #send(bytes: Uint8Array): void {
    const socket = this.#speaking;
    if (socket === null) return;
    socket.write(bytes);
    if (socket.writableLength > MOST_UNSENT) this.#drop(socket);
  }

  #saved(stored: Stored): Saved {
    return { ...stored, terminal: this.#options.terminal };
  }

  #ask(effect: Effect): Promise<void> {
    switch (effect.type) {
      case 'sell':
        return this.#sales.sell(effect.sale);
      case 'refund':
        return this.#sales.refund(effect.refund);
      case 'totals':
        return this.#sales.totals(effect.since, effect.currency);
      case 'receipt':
        return this.#sales.receipt(effect.url, effect);
      default:
        return this.#sales.line();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#ticks);
    this.#end.abort();
    for (const socket of this.#open) socket.destroy();
    await this.#running;
  }
}

/** Returns the eight digits that identify the terminal to registers. */
function digitsOf(terminal: string): number {
  return createHash('sha256').update(terminal).digest().readUInt32BE(0) % 100_000_000;
}
