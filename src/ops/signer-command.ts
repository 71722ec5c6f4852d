import type { AddressInfo } from 'node:net';
import { StartError } from '#core/start-error.ts';
import { serveSigner } from '#signer/serve.ts';
import { readSettings } from '#signer/settings.ts';

// npm run signer -- <settings.json>: keeps keys apart from the programs that send (operate.md).

const USAGE = 'npm run signer -- <settings.json>: see deploy/signer/signer.json';

try {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new StartError(USAGE);
  const settings = await readSettings(file);
  const server = await serveSigner(settings, (line) => console.error(line));
  const { port } = server.address() as AddressInfo;
  console.log(`signs for ${settings.accounts.length} accounts at ${settings.host}:${port}`);
  const stop = () => server.close();
  process.once('SIGTERM', stop).once('SIGINT', stop);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
