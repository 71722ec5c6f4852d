import type { AddressInfo } from 'node:net';
import { StartError } from '#core/start-error.ts';
import { keepSignerCertificate } from '#ops/signer-certificate.ts';
import { serveSigner } from '#signer/serve-signer.ts';
import { readSettings } from '#signer/signer-settings.ts';
import { knownHoles } from '../../cli/src/node-holes.ts';

// npm run signer -- <settings.json>: runs the signer, which keeps keys away from the programs that
// send (configure.md). npm run signer -- certificate <key> <certificate> <host>…: creates the TLS
// files that it needs to listen on other hosts.

const USAGE =
  'npm run signer -- <settings.json> (see deploy/signer/signer.json), or ' +
  'npm run signer -- certificate <key file> <certificate file> <host>…';

async function makeCertificateFiles(args: readonly string[]): Promise<void> {
  const [key, certificate, ...hosts] = args;
  if (key === undefined || certificate === undefined || hosts.length === 0) {
    throw new StartError(USAGE);
  }
  const done = await keepSignerCertificate({ key, certificate }, hosts);
  console.log(`${certificate}: ${done}, for ${hosts.join(', ')}`);
}

async function serve(file: string): Promise<void> {
  const holes = knownHoles(process.versions.node);
  if (holes !== null) console.error(holes);
  const settings = await readSettings(file);
  const server = await serveSigner(settings, (line) => console.error(line));
  const { port } = server.address() as AddressInfo;
  console.log(`signs for ${settings.accounts.length} accounts at ${settings.host}:${port}`);
  for (const { address, limits, usedNonces } of settings.accounts) {
    if (usedNonces !== null) continue;
    const where = `${address}: the settings name no nodes of chain ${limits.chainId}`;
    console.error(`${where}, so only this folder decides which nonces it signs`);
  }
  const stop = () => server.close();
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

try {
  const [first, ...rest] = process.argv.slice(2);
  if (first === undefined) throw new StartError(USAGE);
  await (first === 'certificate' ? makeCertificateFiles(rest) : serve(first));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
