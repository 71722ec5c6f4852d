import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { ensurePackages } from '#packages/build-packages.ts';
import { median } from './report.ts';

/**
 * `node bench/clients.ts`: compares the installed packages `tapline` and `tapline-cli` with
 * well-known ones, which bench/clients installs from its own lockfile. Writes the table between the
 * markers in docs/clients.md.
 */
const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '..');
const DOCUMENT = path.join(ROOT, 'docs/clients.md');
const MARKERS = ['<!-- measured by bench/clients.ts -->', '<!-- end -->'] as const;
const ROUNDS = 15;
const VERIFICATIONS = 20_000;
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];

interface Row {
  readonly name: string;
  readonly cells: readonly string[];
}

/** Returns the total size of the files in a folder. Disk usage would differ between machines. */
async function bytesOf(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += (await stat(path.join(entry.parentPath, entry.name))).size;
  }
  return sum;
}

function kilobytes(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Creates an empty folder and installs these packages there. */
async function install(name: string, from: readonly string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `tapline-bench-${name.replace(/\W/g, '-')}-`));
  await writeFile(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
  await run('npm', ['install', ...QUIET, ...from], { cwd: folder });
  return folder;
}

/** Returns the size of the installed package in bytes, and the number of packages. */
async function installed(folder: string) {
  const modules = path.join(folder, 'node_modules');
  const lock = JSON.parse(await readFile(path.join(modules, '.package-lock.json'), 'utf8')) as {
    packages: object;
  };
  return { bytes: await bytesOf(modules), packages: Object.keys(lock.packages).length };
}

/**
 * Returns the size of `code` after bundling, minification and compression, which is what a
 * serverless worker loads.
 */
async function bundled(folder: string, code: string): Promise<number> {
  const entry = path.join(folder, 'entry.js');
  await writeFile(entry, code);
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: entry, write: false, minify: true },
  });
  const { output } = built as { output: readonly { type: string; code?: string }[] };
  const text = output.map((part) => part.code ?? '').join('');
  return gzipSync(text, { level: 9 }).length;
}

async function secondsOf(file: string, args: readonly string[], cwd: string): Promise<number> {
  const started = performance.now();
  await run(file, args, { cwd });
  return (performance.now() - started) / 1_000;
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measure());
  return median(rounds);
}

/**
 * Returns the milliseconds that importing the package takes, excluding the start of Node itself.
 */
async function importMs(folder: string, code: string): Promise<number> {
  const start = (text: string) =>
    secondsOf(process.execPath, ['--input-type=module', '-e', text], folder);
  // Measures a start with and one without the import in the same round, because the machine's speed
  // drifts.
  return (await medianOf(async () => (await start(code)) - (await start('')))) * 1_000;
}

/** Returns how many signatures of a 1 KB body are verified per second. */
async function verificationsPerSecond(folder: string, verifying: string): Promise<number> {
  const file = path.join(folder, 'verifying.js');
  await writeFile(
    file,
    `const body = JSON.stringify({ id: 'evt_1', type: 'ping', data: 'x'.repeat(1000) });
${verifying}
for (let i = 0; i < 2000; i++) await once();
const started = performance.now();
for (let i = 0; i < ${VERIFICATIONS}; i++) await once();
console.log(${VERIFICATIONS} / ((performance.now() - started) / 1000));`,
  );
  const { stdout } = await run(process.execPath, [file], { cwd: folder });
  return Number(stdout);
}

interface Library {
  readonly name: string;
  /** The package to install: a path, or a name with a version. */
  readonly from: string;
  readonly whole: string;
  readonly webhooks: string;
  readonly load: string;
  readonly verifying: string;
}

async function measureLibrary(library: Library): Promise<Row> {
  const folder = await install(library.name, [library.from]);
  const { bytes, packages } = await installed(folder);
  const whole = await bundled(folder, library.whole);
  const webhooks = await bundled(folder, library.webhooks);
  const ms = await importMs(folder, library.load);
  const perSecond = await verificationsPerSecond(folder, library.verifying);
  await rm(folder, { recursive: true });
  const sizes = [kilobytes(bytes), String(packages), kilobytes(whole), kilobytes(webhooks)];
  return { name: library.name, cells: [...sizes, ms.toFixed(0), Math.round(perSecond).toString()] };
}

async function measureCommand(command: {
  readonly name: string;
  readonly from: readonly string[];
  readonly file: string;
}): Promise<Row> {
  const folder = await install(command.name, command.from);
  const { bytes, packages } = await installed(folder);
  const file = path.join(folder, 'node_modules', command.file);
  const seconds = await medianOf(() => secondsOf(file, ['--version'], folder));
  await rm(folder, { recursive: true });
  return { name: command.name, cells: [kilobytes(bytes), String(packages), seconds.toFixed(2)] };
}

function tableOf(heads: readonly string[], rows: readonly Row[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows.map(({ name, cells }) => [name, ...cells])];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

async function versions(): Promise<Record<string, string>> {
  const file = path.join(import.meta.dirname, 'clients/package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { dependencies: Record<string, string> })
    .dependencies;
}

/** Packs one of our packages as it would be published. */
async function pack(folder: string, name: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: path.join(await ensurePackages(), name) });
  const packed = JSON.parse(stdout) as
    | { filename: string }[]
    | Record<string, { filename: string }>;
  const [one] = Object.values(packed);
  return path.join(folder, one?.filename ?? '');
}

const SIGN_STRIPE = `import Stripe from 'stripe';
const stripe = new Stripe('sk_test_x');
const header = stripe.webhooks.generateTestHeaderString({ payload: body, secret: 'whsec_x' });
const once = () => stripe.webhooks.constructEvent(body, header, 'whsec_x');`;
const SIGN_SVIX = `import { Webhook } from 'svix';
const secret = 'whsec_' + Buffer.from('a secret of thirty-two bytes ...').toString('base64');
const webhook = new Webhook(secret);
const now = new Date();
const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(now / 1000)),
  'webhook-signature': webhook.sign('msg_1', now, body) };
const once = () => webhook.verify(body, headers);`;
const SIGN_OURS = `import { sign, verify } from 'tapline/webhooks';
const headers = { 'service-signature': await sign(body, 'whsec_x') };
const once = () => verify(body, headers, 'whsec_x');`;

async function main(): Promise<void> {
  const known = await versions();
  const packed = await mkdtemp(path.join(tmpdir(), 'tapline-bench-packed-'));
  await cp(path.join(import.meta.dirname, 'clients'), packed, { recursive: true });
  const [sdk, cli] = [await pack(packed, 'sdk'), await pack(packed, 'cli')];
  const named = (name: string) => `${name} ${known[name]}`;
  const libraries = [
    await measureLibrary({
      name: 'tapline',
      from: sdk,
      whole: "export * from 'tapline'; export * from 'tapline/webhooks';",
      webhooks: "export { verify } from 'tapline/webhooks';",
      load: "await import('tapline')",
      verifying: SIGN_OURS,
    }),
    await measureLibrary({
      name: named('stripe'),
      from: `stripe@${known.stripe}`,
      whole: "export { default } from 'stripe';",
      webhooks: "import Stripe from 'stripe'; export const { webhooks } = Stripe;",
      load: "await import('stripe')",
      verifying: SIGN_STRIPE,
    }),
    await measureLibrary({
      name: named('svix'),
      from: `svix@${known.svix}`,
      whole: "export * from 'svix';",
      webhooks: "export { Webhook } from 'svix';",
      load: "await import('svix')",
      verifying: SIGN_SVIX,
    }),
  ];
  const version = known['@stripe/cli-linux-x64'];
  const file = '@stripe/cli-linux-x64/bin/stripe';
  const commands = [
    // Installs both together, because no registry has the version of the SDK packed here.
    await measureCommand({ name: 'tapline-cli', from: [sdk, cli], file: '.bin/tapline' }),
    await measureCommand({
      name: `stripe (CLI) ${version}`,
      from: [`@stripe/cli-linux-x64@${version}`],
      file,
    }),
  ];
  await rm(packed, { recursive: true });
  await writeTables(libraries, commands);
}

/** Writes the tables between the markers and keeps the text around them. */
async function writeTables(libraries: readonly Row[], commands: readonly Row[]): Promise<void> {
  const sizes = ['installed', 'packages', 'whole', 'webhooks alone'];
  const parts = [
    `Median of ${ROUNDS}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}.`,
    tableOf(['package', ...sizes, 'import, ms', 'verifications/s'], libraries),
    tableOf(['command', 'installed', 'packages', 'start, s'], commands),
  ];
  const text = await readFile(DOCUMENT, 'utf8');
  const [head = '', rest = ''] = text.split(MARKERS[0]);
  // Looks for the end only after the start, because other tables end with the same marker.
  const tail = rest.slice(rest.indexOf(MARKERS[1]) + MARKERS[1].length);
  const measured = parts.join('\n\n');
  await writeFile(DOCUMENT, `${head}${MARKERS[0]}\n\n${measured}\n\n${MARKERS[1]}${tail}`);
  console.log(measured);
}

await main();
