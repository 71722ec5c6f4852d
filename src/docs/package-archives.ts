import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ApiDocument } from '#docs/api-document.ts';
import { phpModels } from '#docs/php-models.ts';
import { brunoCollection, postmanCollection } from '#docs/postman-and-bruno.ts';
import { pythonModels } from '#docs/python-models.ts';
import { type Entry, tarball, zip } from '#docs/tar-and-zip.ts';
import { ensurePackages, PACKAGES } from '#packages/build-packages.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/**
 * The packages that merchants install, by folder, with the packages that each one bundles. An
 * archive bundles its dependencies, so that it installs without a registry, and `tapline` is never
 * a stranger's package with that name. Only `x402` takes one from the registry: `viem`, which is
 * larger than all our packages together.
 */
const NPM: Readonly<Record<string, readonly string[]>> = {
  sdk: [],
  cli: ['tapline', 'commander'],
  x402: ['tapline'],
  reader: ['tapline', 'ws', '@noble/curves', '@noble/hashes'],
  'integrations/medusa': ['tapline'],
};

const GZIP = 'application/gzip';
const ZIP = 'application/zip';

export interface Archive {
  readonly name: string;
  readonly version: string;
  /**
   * The command that installs the downloaded archive: from version 12 on, npm refuses URLs. `null`
   * if a download is all, because Composer, for example, installs from a folder of archives.
   */
  readonly install: 'npm i' | 'pip install' | null;
  readonly description: string;
  /** For example `tapline-0.1.0.tgz`. The bytes under this name never change. */
  readonly file: string;
  /**
   * For example `tapline.tgz`, always the current release. `null` for a wheel, because pip reads
   * versions from file names.
   */
  readonly stable: string | null;
  readonly type: string;
  readonly bytes: Buffer;
  readonly sha512: Buffer;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Returns the files in a folder, or the file itself, in an order that does not depend on the file
 * system.
 */
async function filesBelow(folder: string, chosen: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules', folder.length))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((name) => name.replaceAll(path.sep, '/'));
  return names
    .filter((name) => chosen.some((one) => name === one || name.startsWith(`${one}/`)))
    .sort();
}

interface Inside {
  readonly place: string;
  readonly manifest: Manifest;
  readonly isOurs: boolean;
}

/** Returns one package's entries below `place`, with the given manifest. */
async function entriesOf(folder: string, { place, manifest, isOurs }: Inside): Promise<Entry[]> {
  // Take all of a third-party package except `src`, because its file list may contain patterns.
  const all = (await readdir(folder)).filter((name) => name !== 'node_modules' && name !== 'src');
  const names = await filesBelow(folder, isOurs ? (manifest.files ?? []) : all);
  const programs = Object.values(manifest.bin ?? {});
  const { scripts: _, devDependencies: __, ...kept } = manifest;
  const files = names
    .filter((name) => name !== 'package.json')
    .map(async (name) => ({
      name: `${place}${name}`,
      bytes: await readFile(path.join(folder, name)),
      executable: programs.includes(name),
    }));
  const text = `${JSON.stringify(kept, null, 2)}\n`;
  return [
    { name: `${place}package.json`, bytes: Buffer.from(text) },
    ...(await Promise.all(files)),
  ];
}

/**
 * Returns the folder of the third-party package to which `name` resolves from the folder `from`.
 */
function folderOf(name: string, from: string): string {
  // Resolve the package's main file, because not every package exports its manifest.
  const main = createRequire(path.join(from, 'package.json')).resolve(name);
  const inside = path.join('node_modules', name);
  return main.slice(0, main.lastIndexOf(inside) + inside.length);
}

function archive(about: Omit<Archive, 'sha512'>): Archive {
  return { ...about, sha512: createHash('sha512').update(about.bytes).digest() };
}

/**
 * Requires the version that the manifest names, because a package from another folder may have
 * another version.
 */
function requireVersion(own: Manifest, { name, version }: Manifest): void {
  const named = own.dependencies?.[name];
  if (named === version) return;
  throw new Error(`${own.name} requires ${name} ${named}, but ${version} is installed: run npm ci`);
}

async function npmArchive(packageFolder: string, built: string): Promise<Archive> {
  const bundled = NPM[packageFolder] ?? [];
  const isBuilt = (PACKAGES as readonly string[]).includes(packageFolder);
  const folder = path.join(isBuilt ? built : ROOT, packageFolder);
  const own = await manifestOf(folder);
  const manifest = bundled.length === 0 ? own : { ...own, bundleDependencies: bundled };
  const entries = await entriesOf(folder, { place: 'package/', manifest, isOurs: true });
  for (const name of bundled) {
    const isOurs = name === 'tapline';
    const from = isOurs ? path.join(built, 'sdk') : folderOf(name, folder);
    const inside = `package/node_modules/${name}/`;
    const about = { place: inside, manifest: await manifestOf(from), isOurs };
    requireVersion(own, about.manifest);
    entries.push(...(await entriesOf(from, about)));
  }
  const { name, version, description } = own;
  return archive({
    ...{ name, version, description, install: 'npm i', type: GZIP },
    file: `${name}-${version}.tgz`,
    stable: `${name}.tgz`,
    bytes: await tarball(entries),
  });
}

/** Reads this release's API document. */
async function merchantDocument(): Promise<ApiDocument> {
  return JSON.parse(await readFile(path.join(ROOT, 'openapi.json'), 'utf8')) as ApiDocument;
}

const PYTHON_ABOUT = 'The client of a Tapline payment network for Python.';

interface PythonClient {
  readonly version: string;
  /** The metadata file's text: METADATA in a wheel, PKG-INFO in a source archive. */
  readonly about: Buffer;
  readonly modules: readonly Entry[];
}

async function pythonClient(): Promise<PythonClient> {
  const read = async (name: string) => {
    return { name, bytes: await readFile(path.join(ROOT, 'python', name)) };
  };
  const program = await read('tapline/__init__.py');
  const version = /^__version__ = "([\d.]+)"$/m.exec(program.bytes.toString())?.[1] ?? '0';
  const about = [
    ...['Metadata-Version: 2.1', 'Name: tapline', `Version: ${version}`],
    ...[`Summary: ${PYTHON_ABOUT}`, 'License: Apache-2.0', 'Requires-Python: >=3.9'],
    ...['Classifier: Typing :: Typed', ''],
  ].join('\n');
  const modules = [
    program,
    // This file tells type checkers that the annotations are complete.
    await read('tapline/py.typed'),
    { name: 'tapline/models.py', bytes: Buffer.from(pythonModels(await merchantDocument())) },
  ];
  return { version, about: Buffer.from(about), modules };
}

/** Builds the Python client as a wheel, which pip installs without building it. */
async function pythonArchive(): Promise<Archive> {
  const { version, about, modules } = await pythonClient();
  const wheel =
    'Wheel-Version: 1.0\nGenerator: tapline\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
  const inside = `tapline-${version}.dist-info`;
  const entries: Entry[] = [
    ...modules,
    { name: `${inside}/METADATA`, bytes: about },
    { name: `${inside}/WHEEL`, bytes: Buffer.from(wheel) },
  ];
  const record = entries.map(({ name, bytes }) => {
    const sum = createHash('sha256').update(bytes).digest('base64url');
    return `${name},sha256=${sum},${bytes.length}\n`;
  });
  const list = {
    name: `${inside}/RECORD`,
    bytes: Buffer.from(`${record.join('')}${inside}/RECORD,,\n`),
  };
  return archive({
    ...{ name: 'tapline', version, description: PYTHON_ABOUT, install: 'pip install', type: ZIP },
    file: `tapline-${version}-py3-none-any.whl`,
    stable: null,
    bytes: zip([...entries, list]),
  });
}

/** Builds the Python client's source archive, for a package index. Networks serve the wheel. */
export async function pythonSources(): Promise<Archive> {
  const { version, about, modules } = await pythonClient();
  const others = ['README.md', 'pyproject.toml'].map(async (name) => {
    return { name, bytes: await readFile(path.join(ROOT, 'python', name)) };
  });
  const inside = `tapline-${version}/`;
  const entries = [{ name: 'PKG-INFO', bytes: about }, ...(await Promise.all(others)), ...modules];
  return archive({
    ...{ name: 'tapline', version, description: PYTHON_ABOUT, install: 'pip install', type: GZIP },
    file: `tapline-${version}.tar.gz`,
    stable: null,
    bytes: await tarball(entries.map((entry) => ({ ...entry, name: `${inside}${entry.name}` }))),
  });
}

const PHP_FILES = ['README.md', 'autoload.php', 'composer.json', 'src'];

/**
 * Builds the PHP client. Composer installs it from a folder (`artifact`); it can also be unpacked.
 */
async function phpArchive(): Promise<Archive> {
  const folder = path.join(ROOT, 'php');
  const text = await readFile(path.join(folder, 'composer.json'), 'utf8');
  const { name, version, description } = JSON.parse(text) as Manifest;
  const files = (await filesBelow(folder, PHP_FILES)).map(async (file) => {
    return { name: file, bytes: await readFile(path.join(folder, file)) };
  });
  const models = [...phpModels(await merchantDocument())].map(([file, text]) => {
    return { name: `src/Model/${file}`, bytes: Buffer.from(text) };
  });
  return archive({
    ...{ name, version, description, install: null, type: ZIP },
    file: `tapline-php-${version}.zip`,
    stable: 'tapline-php.zip',
    bytes: zip([...(await Promise.all(files)), ...models]),
  });
}

const GO_ABOUT = 'The client of a Tapline payment network for Go.';

/** Builds the Go client. Users unpack it next to their program, which references its folder. */
async function goArchive(): Promise<Archive> {
  const folder = path.join(ROOT, 'go');
  const names = (await readdir(folder)).filter((name) => !name.endsWith('_test.go')).sort();
  const files = names.map(async (name) => {
    return { name, bytes: await readFile(path.join(folder, name)) };
  });
  const entries = await Promise.all(files);
  const program = entries.find(({ name }) => name === 'client.go')?.bytes.toString() ?? '';
  const version = /^const Version = "([\d.]+)"$/m.exec(program)?.[1] ?? '0';
  return archive({
    ...{ name: 'tapline-go', version, description: GO_ABOUT, install: null, type: ZIP },
    file: `tapline-go-${version}.zip`,
    stable: 'tapline-go.zip',
    bytes: zip(entries),
  });
}

/** Builds the merchant API's collections for manual requests. */
async function collections(): Promise<readonly Archive[]> {
  const document = await merchantDocument();
  const { version } = await manifestOf(ROOT);
  return [
    archive({
      ...{ name: 'tapline-postman', version, install: null, type: 'application/json' },
      description: 'The merchant API as a collection for Postman.',
      file: `tapline-postman-${version}.json`,
      stable: 'tapline-postman.json',
      bytes: postmanCollection(document),
    }),
    archive({
      ...{ name: 'tapline-bruno', version, install: null, type: ZIP },
      description: 'The merchant API as a collection for Bruno.',
      file: `tapline-bruno-${version}.zip`,
      stable: 'tapline-bruno.zip',
      bytes: zip(brunoCollection(document)),
    }),
  ];
}

/**
 * Builds all packages of this release from the service's own files.
 * @param own As in `ensurePackages`.
 */
export async function archivesOf(own?: string): Promise<readonly Archive[]> {
  const built = await ensurePackages(own);
  const npm = Object.keys(NPM).map((packageFolder) => npmArchive(packageFolder, built));
  const packages = await Promise.all([...npm, pythonArchive(), phpArchive(), goArchive()]);
  return [...packages, ...(await collections())];
}

/** Writes the format of `sha512sum --check`. */
export function sumsOf(archives: readonly Archive[]): string {
  return archives.map(({ file, sha512 }) => `${sha512.toString('hex')}  ${file}\n`).join('');
}
