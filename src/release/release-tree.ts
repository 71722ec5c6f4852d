import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { PACKAGES } from '#packages/build-packages.ts';
import { git } from '#release/git.ts';
import { closed, closedPackage, whyEmpty } from '#release/versions-and-changelogs.ts';

/** Makes the tree of a release: a clone with the version, closed changelogs and a tag. */

const run = promisify(execFile);
const OUTPUT_BYTES = 64 * 1024 * 1024;
/**
 * Installs the locked packages, including those that only one workspace uses, from npm's cache if
 * possible.
 */
const INSTALL = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
/** Pages that have a section per release. */
const PAGES = ['CHANGELOG.md', 'docs/guides/upgrading.md', 'docs/guides/api-changes.md'];

export interface Tree {
  readonly changelog: string;
  readonly tags: readonly string[];
  /**
   * The commit's time, such as `2026-12-01T10:00:00+00:00`. It dates the release, so that a second
   * release of the same commit has the same date.
   */
  readonly committedAt: string;
}

/**
 * Returns the facts that a release needs about this folder, or why the folder cannot be released.
 */
export async function readTree(root: string): Promise<Tree | string> {
  const status = await git(root, ['status', '--porcelain']).catch(() => null);
  if (status === null) return 'This folder is no git repository.';
  if (status !== '') return `The tree has changes that are not committed:\n${status}`;
  const tags = (await git(root, ['tag'])).split('\n').filter((tag) => tag !== '');
  const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
  return { changelog, tags, committedAt: await git(root, ['log', '-1', '--format=%cI']) };
}

export interface Copy {
  readonly folder: string;
  readonly version: string;
  /** `v1.0.0-rc.1` */
  readonly tag: string;
  /** The heading of each section that the release closes, such as `v1.0.0-rc.1, 2026-12-01`. */
  readonly name: string;
  readonly committedAt: string;
}

type Edit = (text: string) => string;

/**
 * Returns an edit that replaces the version after each match. There must be exactly `times`
 * matches.
 */
function replaced(file: string, before: RegExp, version: string, times = 1): Edit {
  return (text) => {
    const count = [...text.matchAll(before)].length;
    if (count !== times) throw new Error(`${file} names the release's version ${count} times`);
    return text.replace(before, (_, kept: string) => `${kept}${version}`);
  };
}

/** Returns the edits that a release makes, by file. */
function editsOf({ version, name }: Pick<Copy, 'version' | 'name'>): ReadonlyMap<string, Edit> {
  const ofRelease = (text: string) => closed(text, name);
  const named = (file: string, from: RegExp, to: string, times?: number): [string, Edit] => [
    file,
    replaced(file, from, to, times),
  ];
  const before = /^( *"name": "tapline-network",\n *"version": )"[^"]+"/gm;
  return new Map([
    ['CHANGELOG.md', ofRelease],
    ['docs/guides/upgrading.md', ofRelease],
    named('README.md', /^(Version )\d+\.\d+\.\d+(?:-rc\.\d+)?/gm, version),
    named('package.json', before, `"${version}"`),
    named('package-lock.json', before, `"${version}"`, 2),
    named('deploy/container/Dockerfile', /^(ARG RELEASE=)\S+$/gm, version),
    named('deploy/kubernetes/kustomization.yaml', /^( *newTag: )"[^"]+"$/gm, `"${version}"`),
  ]);
}

async function edit(file: string, change: Edit): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

async function closePackages(folder: string): Promise<void> {
  for (const directory of PACKAGES) {
    const manifest = await readFile(path.join(folder, directory, 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { readonly version: string };
    await edit(path.join(folder, directory, 'CHANGELOG.md'), (text) =>
      closedPackage(text, version),
    );
  }
}

/**
 * Closes the page of API changes, and records what clients and databases rely on from now on.
 * @returns the broken promises of the last release; `null` if none are broken.
 */
async function recordPromises(
  { folder, name }: Copy,
  signal?: AbortSignal,
): Promise<string | null> {
  const diff = path.join(folder, 'src/app/diff-command.ts');
  const broken = await run(process.execPath, [diff], { cwd: folder, signal }).then(
    () => null,
    ({ stderr, message }: Error & { readonly stderr?: string }) => {
      signal?.throwIfAborted();
      return stderr || message;
    },
  );
  if (broken !== null) return broken.trim();
  await run(process.execPath, [diff, '--release', name], { cwd: folder, signal });
  const sums = await readFile(path.join(folder, 'migrations/SHA256SUMS'), 'utf8');
  await writeFile(path.join(folder, 'docs/released/migrations.sha256'), sums);
  return null;
}

async function commitAndTag(
  { folder, tag, committedAt: date }: Copy,
  signal?: AbortSignal,
): Promise<void> {
  for (const words of [
    ['add', '--all'],
    ['commit', '-q', '--no-verify', '-m', `release: ${tag}`],
    ['tag', '-a', tag, '-m', tag],
  ]) {
    await git(folder, words, { date, signal });
  }
}

/**
 * Clones a repository into a new folder and installs its locked packages there. Linking `root`'s
 * packages is not enough: those that only one workspace uses would be missing, and links to
 * workspaces would lead into `root`.
 */
export async function cloneInstalled(
  root: string,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await git(root, ['clone', '-q', '--no-hardlinks', root, folder], { signal });
  await run('npm', INSTALL, { cwd: folder, maxBuffer: OUTPUT_BYTES, signal });
}

/** Returns why a page has no entries for this release; `null` if every page has some. */
async function whyNoSection({ folder, name }: Copy): Promise<string | null> {
  for (const page of PAGES) {
    const why = whyEmpty(page, await readFile(path.join(folder, page), 'utf8'), name);
    if (why !== null) return why;
  }
  return null;
}

/**
 * Clones `root` into a new folder, and makes the release's commit and tag there.
 * @returns the copy, or why it cannot be released.
 */
export async function copyTree(
  root: string,
  folder: string,
  {
    version,
    committedAt,
    signal,
  }: Pick<Copy, 'version' | 'committedAt'> & { readonly signal?: AbortSignal },
): Promise<Copy | string> {
  await cloneInstalled(root, folder, signal);
  const tag = `v${version}`;
  const name = `${tag}, ${committedAt.slice(0, 10)}`;
  const copy = { folder, version, tag, name, committedAt };
  for (const [file, change] of editsOf(copy)) await edit(path.join(folder, file), change);
  await closePackages(folder);
  const why = (await recordPromises(copy, signal)) ?? (await whyNoSection(copy));
  if (why !== null) return why;
  await commitAndTag(copy, signal);
  return copy;
}
