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
 * The root of a Debian with the Node.js of node_modules and npm, as the base images of Node.js are:
 * no image is fetched. `TAPLINE_TEST_BASE` names one that debootstrap has made before.
 */
export async function makeBaseFolder(wanted: string): Promise<string> {
  const folder = process.env.TAPLINE_TEST_BASE ?? wanted;
  if (process.env.TAPLINE_TEST_BASE === undefined) {
    const include = '--include=ca-certificates,libstdc++6';
    const options = { timeout: MADE_MS };
    await run('debootstrap', ['--variant=minbase', include, 'bookworm', folder], options);
  }
  const npm = await run('sh', ['-c', 'dirname "$(dirname "$(readlink -f "$(command -v npm)")")"']);
  await cp(process.execPath, path.join(folder, 'usr/local/bin/node'));
  await cp(npm.stdout.trim(), path.join(folder, 'usr/local/lib/npm'), { recursive: true });
  // Whose certificates this machine trusts, the build trusts too.
  await cp(path.join('/', CERTIFICATES), path.join(folder, CERTIFICATES));
  await writeFile(path.join(folder, 'usr/local/bin/npm'), NPM);
  await chmod(path.join(folder, 'usr/local/bin/npm'), 0o755);
  return folder;
}
