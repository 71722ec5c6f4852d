import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { nextVersion, whyNotReleased } from '#release/changes.ts';
import { copyTree, readTree } from '#release/copy.ts';

/**
 * `npm run release -- --rehearse [--out <folder>] [--base <image>] [--without-image] [version]`
 * makes everything that a release consists of from the present commit, in an empty folder, and
 * publishes nothing. The version is the open one of CHANGELOG.md unless another is given.
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

/** Creates the folder of the result. */
async function emptyFolder(place: string): Promise<string> {
  const folder = path.resolve(place);
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) refuse(`${folder} is not empty.`);
  return folder;
}

/** Runs the program of the tagged tree, which makes the files. */
async function makeFiles(folder: string, args: readonly string[]): Promise<number> {
  const program = path.join(folder, 'src/release/files-command.ts');
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

async function rehearse(): Promise<number> {
  const tree = await readTree(ROOT);
  if (typeof tree === 'string') refuse(tree);
  const version = positionals[0] ?? nextVersion(tree.changelog) ?? '';
  const why = whyNotReleased(version, tree);
  if (why !== null) refuse(why);
  const out = await emptyFolder(values.out ?? path.join(tmpdir(), `tapline-${version}`));
  const work = await mkdtemp(path.join(tmpdir(), 'tapline-release-'));
  try {
    const folder = path.join(work, 'tree');
    const copy = await copyTree(ROOT, folder, { version, committedAt: tree.committedAt });
    if (typeof copy === 'string') {
      console.error(`release: ${copy}`);
      return 2;
    }
    const { name } = copy;
    const base = values.base === undefined ? [] : ['--base', values.base];
    const image = values['without-image'] ? ['--without-image'] : [];
    const code = await makeFiles(folder, ['--out', out, '--name', name, ...base, ...image]);
    if (code === 0) console.log(`${name} is rehearsed. Nothing was published.`);
    return code;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (!values.rehearse) refuse(BY_A_PERSON);
process.exitCode = await rehearse();
