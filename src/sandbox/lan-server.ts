import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartError } from '#core/start-error.ts';
import { describeError } from '#observability/log.ts';
import { makeCertificate } from '#sandbox/lan-certificate.ts';
import type { Lan } from '#settings/lan-address.ts';

export interface LanServer {
  readonly url: string;
  readonly fingerprint: string;
  stop(): Promise<void>;
}

/**
 * Serves the sandbox's routes over https to phones on the network. The local port keeps plain HTTP,
 * so that scripts need no certificate.
 */
export async function serveLan(app: FastifyInstance, { host, port }: Lan): Promise<LanServer> {
  const { key, cert, fingerprint } = makeCertificate([host, 'localhost']);
  const server = createServer({ key, cert }, app.routing);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new StartError(`--lan: cannot listen on port ${port}: ${describeError(error)}`)),
    );
    server.listen(port, '0.0.0.0', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const stop = async () => {
    server.close();
    server.closeIdleConnections();
  };
  return { url: `https://${host}:${bound}`, fingerprint, stop };
}
