// Publishes one package from its tag: node .ci/publish-package.mjs tapline-v0.2.0 [flags of npm publish]
// CONTRIBUTING.md says when. `repository` is filled in here and not committed, since every fork has
// another one; without it nothing is published, because npm ties the provenance to it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensurePackages } from '../src/packages/build-packages.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDERS = ['sdk', 'cli', 'x402', 'reader', 'integrations/medusa'];

function refuse(reason) {
  console.error(reason);
  process.exit(2);
}

const manifestOf = (folder) =>
  JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));

/** The folder of `tapline-cli-v0.2.0`, whose manifest and changes have to name that version. */
function folderOf(tag) {
  const [, name, version] = /^([a-z0-9-]+)-v(\d+\.\d+\.\d+)$/.exec(tag) ?? [];
  const folder = FOLDERS.find((one) => manifestOf(one).name === name);
  if (folder === undefined) refuse(`${tag} is no tag of a package: tapline-v0.2.0 is one.`);
  const own = manifestOf(folder).version;
  if (own !== version) refuse(`${folder}/package.json has version ${own}, not ${version}.`);
  const changes = path.join(ROOT, folder, 'CHANGELOG.md');
  if (existsSync(changes) && !readFileSync(changes, 'utf8').includes(`\n## ${version}\n`)) {
    refuse(`${folder}/CHANGELOG.md has no heading ${version}.`);
  }
  return folder;
}

/** Where the tag lives: the build service says it, or REPOSITORY_URL does. */
function repositoryUrl() {
  const { REPOSITORY_URL, GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  const url =
    REPOSITORY_URL || (GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : '');
  if (!/^https:\/\/[^/\s]+\/\S+$/.test(url)) {
    refuse('Nothing says where the repository is: set REPOSITORY_URL to its https address.');
  }
  return `git+${url.replace(/(\.git)?\/?$/, '')}.git`;
}

/** What is published, in a folder of its own: the tree stays as it was tagged. */
async function stage(folder, url) {
  const to = mkdtempSync(path.join(tmpdir(), 'tapline-publish-'));
  const built = path.join(await ensurePackages(), folder);
  // The integration needs no build.
  const from = existsSync(built) ? built : path.join(ROOT, folder);
  const { scripts: _, devDependencies: __, ...manifest } = manifestOf(folder);
  for (const name of manifest.files) {
    cpSync(path.join(from, name), path.join(to, name), { recursive: true });
  }
  const repository = { type: 'git', url, directory: folder };
  const text = JSON.stringify({ ...manifest, repository }, null, 2);
  writeFileSync(path.join(to, 'package.json'), `${text}\n`);
  return to;
}

const [tag = '', ...flags] = process.argv.slice(2);
const folder = folderOf(tag);
const staged = await stage(folder, repositoryUrl());
const publish = ['publish', staged, '--provenance', '--access', 'public', ...flags];
const { status } = spawnSync('npm', publish, { cwd: ROOT, stdio: 'inherit' });
rmSync(staged, { recursive: true, force: true });
process.exit(status ?? 1);
