import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listen } from '#testkit/network/listen.ts';

/** The action of a proxy on bytes: pass them on, cut the connection, or both. */
export type Passage = 'pass' | 'cut' | 'pass_and_cut';

export interface TcpProxy extends Omit<Listening, 'url'> {
  /** The target of new connections. */
  targetPort: number;
  /** Decides what happens to bytes that the client sends. */
  onClientBytes: (text: string) => Passage;
  /** Returns true while the proxy must hold back the server's responses. */
  holdAnswers: () => boolean;
}

/** Interval at which held responses are tried again, for a client that sends nothing meanwhile. */
const RELEASE_EVERY_MS = 50;

function join(proxy: TcpProxy, client: Socket, server: Socket): void {
  const held: Buffer[] = [];
  let answersAreLost = false;
  let again: NodeJS.Timeout | undefined;
  const cut = () => {
    client.destroy();
    server.destroy();
  };
  const release = () => {
    while (held.length > 0 && !proxy.holdAnswers()) client.write(held.shift() ?? '');
    clearTimeout(again);
    if (held.length > 0 && !client.destroyed) again = setTimeout(release, RELEASE_EVERY_MS).unref();
  };
  client.on('data', (bytes) => {
    const passage = proxy.onClientBytes(bytes.toString('latin1'));
    if (passage === 'cut') return cut();
    server.write(bytes);
    // The server does the work before it responds, and only its response is dropped.
    answersAreLost ||= passage === 'pass_and_cut';
    release();
  });
  server.on('data', (bytes) => {
    if (answersAreLost) return cut();
    held.push(bytes);
    release();
  });
  for (const socket of [client, server]) socket.on('close', cut).on('error', cut);
}

/** Starts a proxy between a client and a local server. Tests can cut its connections. */
export async function startTcpProxy(targetPort: number, host?: string): Promise<TcpProxy> {
  const server = createServer((client) =>
    join(proxy, client, connect({ host: '127.0.0.1', port: proxy.targetPort })),
  );
  const proxy: TcpProxy = {
    ...(await listen(server, host)),
    targetPort,
    onClientBytes: () => 'pass',
    holdAnswers: () => false,
  };
  return proxy;
}
