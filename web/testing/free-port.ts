import { type AddressInfo, createServer } from 'node:net';

/**
 * Returns a port that is free now. Passkeys and emailed links need a URL that the service knows
 * when it starts.
 */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
