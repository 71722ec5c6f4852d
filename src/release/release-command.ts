import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { copyTree, readTree } from '#release/release-tree.ts';
import { nextVersion, whyNotReleased } from '#release/versions-and-changelogs.ts';

/**
 * `npm run release -- --rehearse [--out <folder>] [--base <image>] [--without-image] [version]`:
 * makes all files of a release from the current commit and publishes nothing. The output folder
 * must be empty (default: a new one), and appears complete in one step. The default version is that
 * of CHANGELOG.md's open section.
 */
const ROOT = path.join(import.meta.dirname, '../..');

const BY_A_PERSON = `A release is published by a person. This command only rehearses it:

  npm run release -- --rehearse

Then, as CONTRIBUTING.md says under "Releases":

  1. Read manifest.json, changes.md, api-changes.md and licenses.txt in the folder that it names.
  2. git fetch <folder>/tapline-network-<version>.bundle tag v<version>, merge its commit, and
     sign its tag.
  3. Push commit and tag, and wait for CI on that commit.
  4. Push the image by its digest, and publish the folder's files with SHA256SUMS, signed.
  5. Publish each package from its own tag.`;

function refuse(reason: string): never {
  console.error(`release: ${reason}`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rehearse: { type: 'boolean', default: false },
    out: { type: 'string' },
    base: { type: 'string' },
    'without-image': { type: 'boolean', default: false },
  },
});

/** Refuses a folder that contains files, because the result replaces the whole folder. */
async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  if (names.length > 0) refuse(`${folder} is not empty.`);
}

/** Stops everything that is making the release, whose files are then removed. */
const stopping = new AbortController();
const { signal } = stopping;
for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(name, () => {
    process.exitCode = code;
    stopping.abort();
  });
}

/** Runs the command of the tagged tree that makes the files, in a separate process group. */
async function makeFiles(work: string, args: readonly string[]): Promise<number> {
  const folder = path.join(work, 'tree');
  const program = path.join(folder, 'src/release/files-command.ts');
  // Temporary files go to `work`, so that they are removed with it, and no earlier build is used.
  const env = { ...process.env, TMPDIR: work };
  const options = { cwd: folder, env, stdio: 'inherit', detached: true } as const;
  const child = spawn(process.execPath, [program, ...args], options);
  const stop = () => child.pid !== undefined && process.kill(-child.pid, 'SIGTERM');
  signal.addEventListener('abort', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  return code ?? 1;
}

interface Wanted {
  readonly version: string;
  readonly committedAt: string;
  readonly out: string;
}

/** Makes the files in `work`, and moves them to `out` once all of them exist. */
async function makeIn(work: string, { version, committedAt, out }: Wanted): Promise<number> {
  const input = { version, committedAt, signal };
  const copy = await copyTree(ROOT, path.join(work, 'tree'), input);
  if (typeof copy === 'string') {
    console.error(`release: ${copy}`);
    return 2;
  }
  const files = path.join(work, 'files');
  await mkdir(files);
  const base = values.base === undefined ? [] : ['--base', values.base];
  const image = values['without-image'] ? ['--without-image'] : [];
  const args = ['--out', files, '--name', copy.name, ...base, ...image];
  const code = await makeFiles(work, args);
  if (code !== 0) return code;
  await access(path.join(files, 'SHA256SUMS'));
  await rename(files, out);
  console.log(`The files are in ${out}`);
  console.log(`${copy.name} is rehearsed. Nothing was published.`);
  return 0;
}

async function rehearse(): Promise<number> {
  const tree = await readTree(ROOT);
  if (typeof tree === 'string') refuse(tree);
  const version = positionals[0] ?? nextVersion(tree.changelog) ?? '';
  const why = whyNotReleased(version, tree);
  if (why !== null) refuse(why);
  const given = values.out === undefined ? null : path.resolve(values.out);
  if (given !== null) await requireEmpty(given);
  const out = given ?? (await mkdtemp(path.join(tmpdir(), `tapline-${version}-`)));
  await mkdir(path.dirname(out), { recursive: true });
  // Work next to the result, because only within a file system can a folder be moved in one step.
  const work = await mkdtemp(path.join(path.dirname(out), '.tapline-release-'));
  let code = 1;
  try {
    code = await makeIn(work, { version, committedAt: tree.committedAt, out });
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error('release: stopped; nothing was written.');
    code = Number(process.exitCode);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
    if (code !== 0 && given === null) await rm(out, { recursive: true });
  }
  return code;
}

if (!values.rehearse) refuse(BY_A_PERSON);
process.exitCode = await rehearse();
