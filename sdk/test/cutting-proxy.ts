import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listen } from '../../testkit/network/listen.ts';

/** The end of the first connection: after this many bytes from one side. */
export interface Cut {
  readonly of: 'request' | 'answer';
  readonly after: number;
}

export interface CuttingProxy extends Listening {
  /** Bytes received from each side of the first connection. */
  readonly seen: { request: number; answer: number };
}

/** Cuts its first connection at one byte and forwards all others. */
export async function startCuttingProxy(target: number, cut: Cut | null): Promise<CuttingProxy> {
  const seen = { request: 0, answer: 0 };
  let connections = 0;
  const server = createServer((client) => {
    const first = connections++ === 0;
    const upstream = connect({ host: '127.0.0.1', port: target });
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    const pass = (side: Cut['of'], to: Socket) => (bytes: Buffer) => {
      if (!first) return to.write(bytes);
      const room = cut?.of === side ? Math.max(cut.after - seen[side], 0) : bytes.length;
      seen[side] += bytes.length;
      to.write(bytes.subarray(0, room));
      // `end` delivers the forwarded bytes; `destroy` would drop them.
      if (bytes.length > room || (cut?.of === side && seen[side] === cut.after)) {
        to.end(() => end());
      }
    };
    client.on('data', pass('request', upstream));
    upstream.on('data', pass('answer', client));
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    if (cut?.after === 0 && cut.of === 'request' && first) end();
  });
  return { ...(await listen(server)), seen };
}
