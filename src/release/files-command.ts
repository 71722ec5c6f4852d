import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Archive, archivesOf, pythonSources } from '#docs/package-archives.ts';
import { buildImage } from '#release/build-container-image.ts';
import { git, gitBytes } from '#release/git.ts';
import { listFiles, type ReleaseFile } from '#release/manifest-and-checksums.ts';
import { sectionOf } from '#release/versions-and-changelogs.ts';

/**
 * `node src/release/files-command.ts --out <folder> --name 'v1.0.0, 2026-12-01'`: makes the files
 * of a release. Run it in the tagged tree, so that the release's own program packs it.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const OUTPUT_BYTES = 256 * 1024 * 1024;
const run = promisify(execFile);

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '' },
    name: { type: 'string', default: '' },
    base: { type: 'string' },
    'without-image': { type: 'boolean', default: false },
  },
});
const { out, name } = values;
const [tag = ''] = name.split(',');
const version = tag.slice(1);
const files: ReleaseFile[] = [];

async function output(program: string, ...args: readonly string[]): Promise<Buffer> {
  const options = { cwd: ROOT, maxBuffer: OUTPUT_BYTES, encoding: 'buffer' as const };
  return (await run(program, args, options)).stdout;
}

async function add(file: string, what: string, bytes: Buffer | string): Promise<void> {
  await writeFile(path.join(out, file), bytes);
  files.push({ file, what, isReproducible: true });
}

async function zipped(bytes: Buffer): Promise<Buffer> {
  const made = await promisify(gzip)(bytes, { level: 9 });
  // The byte for the operating system: 255 means "unknown".
  made[9] = 255;
  return made;
}

async function addTree(): Promise<void> {
  const inside = `tapline-network-${version}`;
  const tree = await gitBytes(ROOT, ['archive', '--format=tar', `--prefix=${inside}/`, tag]);
  const what = 'The network: unpack it and run npm ci --omit=dev. Also the context of the image';
  await add(`${inside}.tar.gz`, what, await zipped(tree));
  const bundle = `tapline-network-${version}.bundle`;
  // Store no deltas: git chooses them depending on the repository's other objects.
  const whole = ['-c', 'pack.threads=1', '-c', 'pack.window=0', '-c', 'pack.depth=0'];
  const one = [...whole, 'bundle', 'create', '-q'];
  await git(ROOT, [...one, path.join(out, bundle), `${tag}~1..${tag}`]);
  const fetched = `The commit and the tag ${tag}: git fetch ${bundle} tag ${tag}`;
  files.push({ file: bundle, what: fetched, isReproducible: true });
}

async function addPackages(): Promise<void> {
  const archives: readonly Archive[] = [...(await archivesOf()), await pythonSources()];
  for (const { file, bytes, description, install } of archives) {
    await add(file, `${description.replace(/\.$/, '')}: ${install} ${file}`, bytes);
  }
}

/** Replaces this run's time and random number with values that depend only on the commit. */
function withoutRun(bill: string, commit: string): string {
  const parsed = JSON.parse(bill) as { readonly metadata: object };
  const id = createHash('sha256').update(commit).digest('hex');
  const parts = [id.slice(0, 8), id.slice(8, 12), `4${id.slice(13, 16)}`, `8${id.slice(17, 20)}`];
  const serialNumber = `urn:uuid:${[...parts, id.slice(20, 32)].join('-')}`;
  const metadata = { ...parsed.metadata, timestamp: `${name.slice(-10)}T00:00:00.000Z` };
  return `${JSON.stringify({ ...parsed, serialNumber, metadata }, null, 2)}\n`;
}

async function addPapers(commit: string): Promise<void> {
  const program = (file: string) => output(process.execPath, path.join(ROOT, 'src/ops', file));
  const bill = (await program('sbom-command.ts')).toString();
  const packed = 'The bill of materials (CycloneDX): every locked package, and the archives';
  await add('sbom.cdx.json', packed, withoutRun(bill, commit));
  const licenses = await program('licenses-command.ts');
  await add('licenses.txt', 'The license of every locked package', licenses);
  const page = async (file: string) =>
    sectionOf(await readFile(path.join(ROOT, file), 'utf8'), name);
  const changes = await page('CHANGELOG.md');
  await add('changes.md', 'The section of CHANGELOG.md', `# ${name}\n\n${changes}\n`);
  const api = await page('docs/guides/api-changes.md');
  const since = 'The additions to the merchant API since the last release; nothing was removed';
  await add('api-changes.md', since, `# ${name}\n\n${api}\n`);
  const steps = await page('docs/guides/upgrading.md');
  await add('release-notes.md', 'The steps of operators', `# ${name}\n\n${steps}\n`);
  const promises = await readFile(path.join(ROOT, 'docs/released/merchant-api.json'));
  const shape = 'What clients of the merchant API rely on from this release on';
  await add('merchant-api.json', shape, promises);
  const sums = await readFile(path.join(ROOT, 'docs/released/migrations.sha256'));
  await add('migrations.sha256', 'The migrations that never change from this release on', sums);
}

const revision = await git(ROOT, ['rev-parse', `${tag}^{commit}`]);
const missing: string[] = [];
await addTree();
await addPackages();
await addPapers(revision);
if (values['without-image']) missing.push('the image: left out by --without-image');
else {
  const base = values.base ?? null;
  const image = await buildImage({ folder: ROOT, out, version, revision, base });
  if (typeof image === 'string') missing.push(`the image: ${image}`);
  else files.push(image);
}
const madeBy = {
  ...{ node: process.version, npm: (await output('npm', '--version')).toString().trim() },
  ...{ git: (await git(ROOT, ['--version'])).replace(/^git version /, ''), architecture: arch() },
};
await listFiles(out, files, { version, tag, commit: revision, madeBy, missing });
for (const line of missing) console.log(`missing: ${line}`);
console.log(`${files.length} files`);
