import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server of a test that accepts connections. */
export interface Listening {
  readonly port: number;
  readonly url: string;
  /** Cuts all connections, but still accepts new ones. */
  cutAll(): void;
  /** Cuts all connections and accepts no more. */
  close(): Promise<void>;
}

/** Lets a server listen on a free port. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    cutAll,
    close: async () => {
      if (!server.listening) return;
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
