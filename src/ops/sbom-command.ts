import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Archive, archivesOf } from '#docs/package-archives.ts';

/**
 * `npm run sbom`: prints the release's bill of materials (CycloneDX): every locked package, read
 * offline from the lockfile, and the files served under `/packages/` with their SHA-512.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const LOCKED = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const LONGEST_BYTES = 64 * 1024 * 1024;

interface Bill {
  readonly components: readonly object[];
  readonly [field: string]: unknown;
}

function componentOf({ name, version, description, file, sha512 }: Archive): object {
  return {
    type: 'file',
    'bom-ref': `packages/${file}`,
    name: file,
    version,
    description: `${name}: ${description}`,
    hashes: [{ alg: 'SHA-512', content: sha512.toString('hex') }],
  };
}

const [{ stdout }, archives] = await Promise.all([
  promisify(execFile)('npm', LOCKED, { cwd: ROOT, maxBuffer: LONGEST_BYTES }),
  archivesOf(),
]);
const bill = JSON.parse(stdout) as Bill;
const components = [...bill.components, ...archives.map(componentOf)];
// The reader, such as `head`, may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.stdout.write(`${JSON.stringify({ ...bill, components }, null, 2)}\n`);
