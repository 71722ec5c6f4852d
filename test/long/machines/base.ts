import { execFile } from 'node:child_process';
import { chmod, cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const MADE_MS = 900_000;
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';
const NPM = `#!/bin/sh
export NODE_EXTRA_CA_CERTS=/${CERTIFICATES}
exec node /usr/local/lib/npm/bin/npm-cli.js "$@"
`;
const run = promisify(execFile);

/**
 * Makes a Debian root with Node.js from node_modules and npm, like the official Node.js base
 * images, without fetching an image. `TAPLINE_TEST_BASE` reuses a root that debootstrap has
 * created.
 */
export async function makeBaseFolder(usual: string): Promise<string> {
  const folder = process.env.TAPLINE_TEST_BASE ?? usual;
  if (process.env.TAPLINE_TEST_BASE === undefined) {
    const include = '--include=ca-certificates,libstdc++6';
    const options = { timeout: MADE_MS };
    await run('debootstrap', ['--variant=minbase', include, 'bookworm', folder], options);
  }
  const npm = await run('sh', ['-c', 'dirname "$(dirname "$(readlink -f "$(command -v npm)")")"']);
  await cp(process.execPath, path.join(folder, 'usr/local/bin/node'));
  await cp(npm.stdout.trim(), path.join(folder, 'usr/local/lib/npm'), { recursive: true });
  // The build trusts the same certificates as this machine.
  await cp(path.join('/', CERTIFICATES), path.join(folder, CERTIFICATES));
  await writeFile(path.join(folder, 'usr/local/bin/npm'), NPM);
  await chmod(path.join(folder, 'usr/local/bin/npm'), 0o755);
  return folder;
}
