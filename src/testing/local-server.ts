import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export interface LocalServer {
  readonly port: number;
  readonly url: string;
  /** Ends the connections of an HTTP server, too. */
  close(): Promise<void>;
}

/** Lets a server listen on a free port of this machine. */
export async function listenLocally(server: Server | HttpServer): Promise<LocalServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}
