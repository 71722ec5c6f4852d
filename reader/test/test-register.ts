import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SandboxFile } from '../../src/sandbox/sandbox-file.ts';
import { REGISTER_TIMEOUT_MS } from '../src/zvt/conversation.ts';
import { type RegisterOptions, type RegisterServer, serveRegister } from '../src/zvt/server.ts';
import { readFrame } from '../src/zvt/zvt-frames.ts';
import { type Make, startedTill, type Till } from './started-till.ts';

/** Long enough for a sale on a busy machine. */
const PATIENCE_MS = 60_000;
const ACKNOWLEDGED = '800000';

/**
 * A cash register on a socket. It sends what a test tells it to, and acknowledges what it receives.
 */
export class TestRegister {
  /** Received frames in hex. */
  readonly frames: string[] = [];
  /** Decides whether it acknowledges a frame. */
  acknowledges: (frame: string) => boolean = () => true;
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #read = 0;
  #wake = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => this.#wake());
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      for (let read = readFrame(this.#bytes); read !== null; read = readFrame(this.#bytes)) {
        this.#took(this.#bytes.subarray(0, read.length).toString('hex'));
        this.#bytes = this.#bytes.subarray(read.length);
      }
    });
  }

  static async connect(port: number): Promise<TestRegister> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new TestRegister(socket);
  }

  #took(frame: string): void {
    this.frames.push(frame);
    if (/^0[46]/.test(frame) && this.acknowledges(frame)) this.send(ACKNOWLEDGED);
    this.#wake();
  }

  send(hex: string): void {
    this.socket.write(Buffer.from(hex, 'hex'));
  }

  /** Returns the next frame that matches. @throws if the connection ends before. */
  async until(wanted: RegExp): Promise<string> {
    const late = Date.now() + PATIENCE_MS;
    for (;;) {
      const frame = this.frames[this.#read++];
      if (frame !== undefined && wanted.test(frame)) return frame;
      if (frame !== undefined) continue;
      this.#read--;
      if (this.socket.destroyed) throw new Error(`the connection ended before ${wanted}`);
      if (Date.now() > late) throw new Error(`no ${wanted} in ${this.frames.join(' ')}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async cut(): Promise<void> {
    if (this.socket.destroyed) return;
    const closed = once(this.socket, 'close');
    this.socket.resetAndDestroy();
    await closed;
  }
}

export interface ServedRegister {
  readonly till: Till;
  readonly port: () => number;
  readonly file: string;
  connect(): Promise<TestRegister>;
  /** Starts another reader at the same port, with the same file. */
  second(): Promise<RegisterServer>;
  /** Stops the register server and starts it again from its file. */
  restart(): Promise<void>;
  /** Stops the register server and starts it again without its file. */
  forget(): Promise<void>;
  end(): Promise<void>;
}

interface Options extends Pick<RegisterOptions, 'peers' | 'password'> {
  readonly make?: Make;
  readonly timeoutMs?: number;
}

export async function serveTestRegister(
  sandbox: SandboxFile,
  { make, timeoutMs = REGISTER_TIMEOUT_MS, ...may }: Options = {},
): Promise<ServedRegister> {
  const till = await startedTill(sandbox, make);
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-zvt-'));
  const file = path.join(folder, 'reader.zvt.json');
  const open = (port = 0) =>
    serveRegister({
      ...{ api: till.api, terminal: till.terminal.id, host: '127.0.0.1', port },
      ...{ ...may, file, timeoutMs, signal: new AbortController().signal },
      onRegister: () => {},
      onFault: (error) => {
        throw error;
      },
    });
  let server = await open();
  return {
    till,
    port: () => server.port,
    file,
    connect: () => TestRegister.connect(server.port),
    second: () => open(server.port),
    restart: async () => {
      await server.close();
      server = await open();
    },
    forget: async () => {
      await server.close();
      await rm(file);
      server = await open();
    },
    end: async () => {
      await server.close();
      await till.end();
      await rm(folder, { recursive: true });
    },
  };
}
