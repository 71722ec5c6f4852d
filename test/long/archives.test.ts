import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'vite';
import { ensurePackages } from '#packages/build-packages.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';

/**
 * Installs the client's archive in empty projects and tests each way to load it: in Node, with the
 * common TypeScript version, in a browser bundle, and with the package managers of Bun and Deno.
 * TypeScript, Bun and Deno are installed from folders with their own lockfiles.
 */

const run = promisify(execFile);
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];

const folder = testFolder();
let compiler: Tool;
let runtimes: Tool;
let archive: string;
let project: string;

before(async () => {
  [compiler, runtimes] = [await install('openapi-typescript'), await install('runtimes')];
  const pack = ['pack', '--ignore-scripts', '--pack-destination', folder];
  await run('npm', pack, { cwd: path.join(await ensurePackages(), 'sdk') });
  const [name = ''] = (await readdir(folder)).filter((one) => one.endsWith('.tgz'));
  archive = path.join(folder, name);
  project = await emptyProject('project');
  await run('npm', ['install', ...QUIET, archive], { cwd: project });
});

async function emptyProject(name: string): Promise<string> {
  const target = path.join(folder, name);
  await mkdir(target);
  await writeFile(path.join(target, 'package.json'), '{"private": true}');
  return target;
}

/** TypeScript 5.9; Bun and Deno. */
const install = (name: string) => installTool(name, path.join(folder, name));

const SHOWN = '2500000 evt_1 function';
const REST = `
const headers = { 'service-signature': await sign('{"id":"evt_1"}', 'whsec_x') };
const event = await verify('{"id":"evt_1"}', headers, 'whsec_x');
console.log(usdc('2.50'), event.id, typeof new Tapline('tlsk_test_x').refunds.create);`;
const ESM = `
import { Tapline, usdc } from 'tapline';
import { sign, verify } from 'tapline/webhooks';${REST}`;
const COMMONJS = `
const { Tapline, usdc } = require('tapline');
const { sign, verify } = require('tapline/webhooks');
(async () => {${REST}
})();`;

test('Node imports and requires the archive', async () => {
  await writeFile(path.join(project, 'use.mjs'), ESM);
  await writeFile(path.join(project, 'use.cjs'), COMMONJS);
  for (const file of ['use.mjs', 'use.cjs']) {
    const { stdout } = await run(process.execPath, [file], { cwd: project });
    assert.equal(stdout.trim(), SHOWN, file);
  }
});

const TYPED = `
import { OutcomeUnknownError, type Payment, type PaymentIntent, Tapline } from 'tapline';
import { verify } from 'tapline/webhooks';
const tapline = new Tapline('tlsk_test_x');
export async function sell(): Promise<string | null> {
  const order = { amount: 1, terminal: 'tml_x' };
  const intent: PaymentIntent = await tapline.paymentIntents.create(order);
  for await (const payment of tapline.payments.list({ limit: 2 })) payment satisfies Payment;
  const event = await verify('', new Headers(), 'whsec_x');
  if (event.type === 'payment.succeeded') event.data.object satisfies Payment;
  return intent.payment;
}
export const unknown = (error: unknown) => error instanceof OutcomeUnknownError;
`;
const REQUIRED = `
import tapline = require('tapline');
export const atoms: number = tapline.usdc('2.50');
export type Paid = tapline.Payment['amount'];
`;
const MODES: readonly (readonly string[])[] = [
  ['node16'],
  ['node20'],
  ['nodenext'],
  ['preserve', '--moduleResolution', 'bundler'],
];

/** Type-checks our declarations as well: no `skipLibCheck`. */
async function compile(file: string, modules: readonly string[]): Promise<string> {
  const tsc = compiler.installed('.bin/tsc');
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
  const lib = ['--lib', 'es2022,dom,dom.asynciterable', '--module', ...modules];
  const args = [...strict, '--noUncheckedIndexedAccess', ...lib, file];
  return run(tsc, args, { cwd: project }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

for (const modules of MODES) {
  test(`strict TypeScript 5.9 accepts its types with module ${modules.join(' ')}`, async () => {
    await writeFile(path.join(project, 'use.mts'), TYPED);
    assert.equal(await compile('use.mts', modules), '');
    await writeFile(
      path.join(project, 'wrong.mts'),
      TYPED.replace('create(order)', 'create({ till: 1 })'),
    );
    assert.match(await compile('wrong.mts', modules), /'till' does not exist/);
    // With node16, TypeScript forbids `require` of an ES module, because Node 16 did not support
    // it.
    await writeFile(path.join(project, 'use.cts'), REQUIRED);
    const required = await compile('use.cts', modules);
    if (modules[0] === 'node16') assert.match(required, /TS1471|TS1479|TS1542/);
    else assert.equal(required, '');
  });
}

test('a browser bundle verifies without Node’s modules', async () => {
  const entry = path.join(project, 'browser.mjs');
  await writeFile(entry, "export { sign, verify } from 'tapline/webhooks';");
  const outDir = path.join(project, 'bundle');
  const lib = { entry, formats: ['es' as const], fileName: 'webhooks' };
  await build({ root: project, configFile: false, logLevel: 'error', build: { lib, outDir } });
  const [name = '', ...others] = await readdir(outDir);
  assert.deepEqual(others, []);
  const text = await readFile(path.join(outDir, name), 'utf8');
  assert.doesNotMatch(text, /node:|require\(|process\./);
  assert.ok(text.length < 8_000, `${text.length} bytes`);
  const url = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
  const { sign, verify } = (await import(url)) as typeof import('tapline/webhooks');
  const headers = { 'service-signature': await sign('{"id":"evt_1"}', 'whsec_x') };
  assert.equal((await verify('{"id":"evt_1"}', headers, 'whsec_x')).id, 'evt_1');
  await assert.rejects(verify('{"id":"evt_2"}', headers, 'whsec_x'));
});

test('Bun adds the archive and runs it', async () => {
  const bun = runtimes.installed('@oven/bun-linux-x64/bin/bun');
  const cwd = await emptyProject('bun');
  const env = { ...process.env, BUN_INSTALL_CACHE_DIR: path.join(folder, 'bun-cache') };
  await run(bun, ['add', archive], { cwd, env });
  await writeFile(path.join(cwd, 'use.mjs'), ESM);
  const { stdout } = await run(bun, ['run', 'use.mjs'], { cwd, env });
  assert.equal(stdout.trim(), SHOWN);
});

test('Deno runs the archive that npm installed', async () => {
  const deno = runtimes.installed('@deno/linux-x64-glibc/deno');
  const args = ['run', '--node-modules-dir=manual', '--no-lock', 'use.mjs'];
  const env = { ...process.env, DENO_DIR: path.join(folder, 'deno') };
  await writeFile(path.join(project, 'use.mjs'), ESM);
  const { stdout } = await run(deno, args, { cwd: project, env });
  assert.equal(stdout.trim(), SHOWN);
});
