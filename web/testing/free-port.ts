import { type AddressInfo, createServer } from 'node:net';

/**
 * A port that is free now. Passkeys and mailed links belong to an address that the service knows
 * from its start.
 */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
