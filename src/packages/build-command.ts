import { cp, glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';
import { isolatedDeclarationSync, transformSync } from 'rolldown/experimental';
import { minifySync } from 'rolldown/utils';
import { ensurePackages, PACKAGES } from './build-packages.ts';

/**
 * `node src/packages/build-command.ts --out <folder>` builds the npm packages into the folder, each
 * in its published form. Without `--out` it builds them where the programs of this repository find
 * them, and prints that folder. The same sources make the same bytes everywhere.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const TARGET = 'es2022';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: object;
  readonly devDependencies?: object;
  readonly exports?: object;
  readonly files: readonly string[];
}

/** Removes comments; nothing is renamed or joined. */
const WITHOUT_COMMENTS = { compress: false, mangle: false, codegen: { removeWhitespace: false } };
/**
 * Minifies `tapline` as much as possible, because it must stay within its size budget, above all
 * for receivers at the edge. An error's name is the name of its class, so class names are kept.
 */
const SMALL = { compress: true, mangle: { keepNames: { class: true, function: false } } };
/**
 * The bundle of the MCP SDK in the command line's package, so that installing it needs no registry.
 */
const BUNDLE = 'mcp/sdk.ts';
const BUNDLED = ['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod'];

function requireNone(file: string, errors: readonly { readonly message: string }[]): void {
  if (errors.length > 0) throw new Error(`${file}: ${errors.map((one) => one.message).join(' ')}`);
}

function minified(file: string, code: string, options: Parameters<typeof minifySync>[2]): string {
  const result = minifySync(file, code, { module: true, ...options });
  requireNone(file, result.errors);
  return result.code;
}

/** Converts one module to JavaScript: types are stripped, and imports name the built files. */
function scriptOf(folder: string, name: string, text: string): string {
  const file = path.join(folder, name);
  const { code, errors } = transformSync(name, text, {
    ...{ lang: 'ts', sourceType: 'module', target: TARGET, tsconfig: false },
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  });
  requireNone(file, errors);
  if (folder === 'sdk') return minified(file, code, SMALL);
  // The comments are in the sources.
  return folder === 'cli' ? minified(file, code, WITHOUT_COMMENTS) : code;
}

function declarationsOf(folder: string, name: string, text: string): string {
  const { code, errors } = isolatedDeclarationSync(name, text);
  requireNone(path.join(folder, name), errors);
  return code;
}

async function writeText(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Writes the bundle, and the licenses of its contents beside it. */
async function bundle(into: string): Promise<void> {
  const { output } = await build({
    input: path.join(ROOT, 'cli/src', BUNDLE),
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node20' },
    write: false,
    output: { format: 'esm', minify: true, codeSplitting: false },
  });
  const [{ code }] = output;
  await writeText(path.join(into, BUNDLE.replace(/\.ts$/, '.js')), code);
  const licenses = BUNDLED.map(async (name) => {
    const folder = path.join(ROOT, 'node_modules', name);
    const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const text = (await readFile(path.join(folder, 'LICENSE'), 'utf8')).trim();
    return `${name} ${manifest.version} (${manifest.license})\n\n${text}\n`;
  });
  const whole = (await Promise.all(licenses)).join(`\n${'-'.repeat(80)}\n\n`);
  await writeText(path.join(into, BUNDLE.replace(/\.ts$/, '.licenses.txt')), whole);
}

async function linkDependencies(folder: string, to: string, names: readonly string[]) {
  for (const name of names) {
    // Resolve the package's main file, because not every package exports its manifest.
    const from = createRequire(path.join(ROOT, folder, 'package.json'));
    const main = name === 'tapline' ? '' : from.resolve(name);
    const inside = path.join('node_modules', name);
    const installed = main.slice(0, main.lastIndexOf(inside) + inside.length);
    const link = path.join(to, inside);
    await mkdir(path.dirname(link), { recursive: true });
    const target = name === 'tapline' ? path.join(to, '../sdk') : installed;
    // Links within the repository are relative, so that both ends can be moved together.
    const isInside = to.startsWith(ROOT) || name === 'tapline';
    const isWindows = process.platform === 'win32';
    const shown = isInside && !isWindows ? path.relative(path.dirname(link), target) : target;
    await symlink(shown, link, isWindows ? 'junction' : 'dir');
  }
}

async function buildPackage(folder: string, out: string): Promise<void> {
  const from = path.join(ROOT, folder);
  const to = path.join(out, folder);
  const text = await readFile(path.join(from, 'package.json'), 'utf8');
  const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(text) as Manifest;
  await writeText(path.join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of manifest.files.filter((one) => one !== 'dist')) {
    await cp(path.join(from, name), path.join(to, name), { recursive: true });
  }
  for await (const name of glob('**/*.ts', { cwd: path.join(from, 'src') })) {
    if (folder === 'cli' && name === BUNDLE) continue;
    const source = await readFile(path.join(from, 'src', name), 'utf8');
    const target = path.join(to, 'dist', name.replace(/\.ts$/, ''));
    await writeText(`${target}.js`, scriptOf(folder, name, source));
    // A command exports no types.
    if (manifest.exports === undefined) continue;
    await writeText(`${target}.d.ts`, declarationsOf(folder, name, source));
  }
  if (folder === 'cli') await bundle(path.join(to, 'dist'));
  await linkDependencies(folder, to, Object.keys(manifest.dependencies ?? {}));
}

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) console.log(await ensurePackages());
else for (const folder of PACKAGES) await buildPackage(folder, path.resolve(values.out));
