import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { nodeFetch } from 'tapline/node-fetch';

/** The list of packages that the network serves: `/packages/index.json`. */
interface Served {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly stable: string | null;
  readonly integrity: string;
}

const TIMEOUT_MS = 10_000;
const BLOCK = 512;
/** The folder in which this package is installed. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));

function ownManifest(): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
}

/** Yields the programs in an npm archive and skips other files. */
function* programsIn(archive: Uint8Array): Generator<readonly [name: string, bytes: Buffer]> {
  const tar = gunzipSync(archive, { maxOutputLength: 64 * 2 ** 20 });
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK);
    const name = header.toString('utf8', 0, 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(header.toString('utf8', 124, 136), 8);
    const relativePath = /^package\/((?:bin|dist)\/[\w/-]+\.js)$/.exec(name)?.[1];
    if (relativePath !== undefined)
      yield [relativePath, tar.subarray(at + BLOCK, at + BLOCK + size)];
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function differing(archive: Uint8Array): string[] {
  const differs: string[] = [];
  for (const [name, bytes] of programsIn(archive)) {
    const own = path.join(ROOT, name);
    if (!existsSync(own) || !readFileSync(own).equals(bytes)) differs.push(name);
  }
  return differs;
}

async function read(url: URL): Promise<Response | null> {
  const response = await nodeFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return response.ok ? response : null;
}

/**
 * Compares this command with the one that the network serves: checks the archive against its listed
 * checksum and, if the versions match, compares each installed program.
 */
export async function compareWithServed(
  baseUrl: string,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const packagesUrl = new URL('/packages/', baseUrl);
  const index = await read(new URL('index.json', packagesUrl));
  if (index === null) return { ok: true, detail: 'this network serves no packages' };
  const { packages } = (await index.json()) as { packages: readonly Served[] };
  const own = ownManifest();
  const served = packages.find(({ name }) => name === own.name);
  if (served === undefined) return { ok: true, detail: `this network serves no ${own.name}` };
  const file = await read(new URL(encodeURIComponent(served.file), packagesUrl));
  const archive = new Uint8Array((await file?.arrayBuffer()) ?? []);
  const sum = createHash('sha512').update(archive).digest('base64');
  if (`sha512-${sum}` !== served.integrity) {
    const detail = `${served.file} does not match the network's checksum: do not use it`;
    return { ok: false, detail };
  }
  const name = served.stable ?? served.file;
  const install = `curl -O ${packagesUrl}${name} && npm i ./${name}`;
  if (served.version !== own.version) {
    const detail = `this is ${own.version}, the network serves ${served.version}: ${install}`;
    return { ok: true, detail };
  }
  const [first, ...others] = differing(archive);
  if (first === undefined) return { ok: true, detail: `${own.name} ${own.version}, as served` };
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return { ok: false, detail: `${first}${more} differs from the network's copy: ${install}` };
}
