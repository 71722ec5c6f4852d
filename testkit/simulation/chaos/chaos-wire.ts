import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listen } from '#testkit/network/listen.ts';

/** The direction of a message on a wire. */
export type Way = 'sent' | 'answered';

/**
 * Parses the bytes that a client sends on a connection.
 * @returns the statement or method of each message that is now complete
 */
export type Reader = (bytes: Buffer) => readonly string[];

export interface WireOptions {
  readonly targetPort: number;
  /** Opens one reader per connection. */
  readonly openReader: () => Reader;
  /** Called right after bytes were passed on. If it closes the gate, the next bytes wait. */
  readonly hear: (way: Way, text: string) => void;
  readonly gate: Gate;
}

export type Wire = Pick<Listening, 'port' | 'close'>;

/** Lets messages through. While it is closed, messages in both directions wait, in their order. */
export class Gate {
  #closed = false;
  readonly #waiting = new Set<() => void>();

  get isClosed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  open(): void {
    this.#closed = false;
    for (const go of this.#waiting) go();
  }

  /**
   * Registers a listener for the gate's opening.
   * @returns a function that removes the listener
   */
  onOpen(go: () => void): () => void {
    this.#waiting.add(go);
    return () => this.#waiting.delete(go);
  }
}

function join(client: Socket, server: Socket, { openReader, hear, gate }: WireOptions): void {
  const read = openReader();
  const waiting: (() => void)[] = [];
  let unanswered = '';
  const drain = () => {
    while (!gate.isClosed && waiting.length > 0) waiting.shift()?.();
  };
  const pass = (step: () => void) => {
    waiting.push(step);
    drain();
  };
  client.on('data', (bytes) =>
    pass(() => {
      server.write(bytes);
      for (const text of read(bytes)) {
        unanswered = text;
        hear('sent', text);
      }
    }),
  );
  server.on('data', (bytes) =>
    pass(() => {
      client.write(bytes);
      if (unanswered !== '') hear('answered', unanswered);
      unanswered = '';
    }),
  );
  const forget = gate.onOpen(drain);
  const end = () => {
    forget();
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) socket.on('close', end).on('error', end);
}

/** Starts a local proxy that reports messages, and holds them while its gate is closed. */
export async function startWire(options: WireOptions): Promise<Wire> {
  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: options.targetPort });
    for (const socket of [client, upstream]) socket.setNoDelay(true);
    join(client, upstream, options);
  });
  return listen(server);
}
