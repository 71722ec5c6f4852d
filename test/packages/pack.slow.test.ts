import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { ensurePackages, PACKAGES } from '#packages/build-packages.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

/** Tests the packages as published, in a folder without access to this repository. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');

const folder = testFolder();

before(async () => {
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  const built = await ensurePackages();
  for (const name of PACKAGES) {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: path.join(built, name) });
  }
  await writeFile(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const tarballs = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  assert.equal(tarballs.length, PACKAGES.length);
  const files = tarballs.map((name) => `./${name}`);
  await run('npm', ['install', ...quiet, ...files], { cwd: folder });
});

test('the packages contain the files that they need, and no others', async () => {
  for (const name of ['tapline', 'tapline-cli', 'tapline-x402', 'tapline-reader']) {
    const files = await readdir(path.join(folder, 'node_modules', name));
    for (const expected of ['README.md', 'CHANGELOG.md', 'LICENSE', 'dist', 'package.json']) {
      assert.ok(files.includes(expected), `${name} has ${files}`);
    }
    assert.ok(!files.includes('src') && !files.includes('tsconfig.json'), `${name} has ${files}`);
  }
});

test('the client and the command run', async () => {
  const program = `
    import { Tapline, usdc } from 'tapline';
    import { sign, verify } from 'tapline/webhooks';
    const headers = { 'service-signature': await sign('{"id":"evt_1"}', 'whsec_x') };
    const event = await verify('{"id":"evt_1"}', headers, 'whsec_x');
    console.log(usdc('2.50'), event.id, typeof new Tapline('tlsk_test_x').refunds.create);`;
  await writeFile(path.join(folder, 'use.js'), program);
  const { stdout } = await run(process.execPath, ['use.js'], { cwd: folder });
  assert.equal(stdout.trim(), '2500000 evt_1 function');
  const command = path.join(folder, 'node_modules/.bin/tapline');
  const version = await run(command, ['--version'], { cwd: folder });
  assert.match(version.stdout, /^\d+\.\d+\.\d+$/m);
});

test('the facilitator runs, and says which settings are missing', async () => {
  const program = `
    import { openFacilitator, paywallOf, routesOf, serverOf } from 'tapline-x402';
    console.log([openFacilitator, paywallOf, routesOf, serverOf].map((one) => typeof one).join());`;
  await writeFile(path.join(folder, 'sell.js'), program);
  const { stdout } = await run(process.execPath, ['sell.js'], { cwd: folder });
  assert.equal(stdout.trim(), 'function,function,function,function');
  const command = path.join(folder, 'node_modules/.bin/tapline-x402');
  const env = { PATH: process.env.PATH, TAPLINE_ACCOUNT: 'acct_x' };
  await assert.rejects(run(command, { env }), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /^Set TAPLINE_BASE_URL, TAPLINE_API_KEY, TAPLINE_TERMINAL/);
    return error.code === 2;
  });
});

test('the reader runs, and says that it is not paired', async () => {
  const command = path.join(folder, 'node_modules/.bin/tapline-reader');
  const help = await run(command, ['--help'], { cwd: folder });
  assert.match(help.stdout, /--pair XXXX-XXXX/);
  const env = { PATH: process.env.PATH, HOME: folder };
  await assert.rejects(run(command, { env }), (error: { code: number; stderr: string }) => {
    assert.match(error.stderr, /^Not paired/);
    return error.code === 1;
  });
});

const USE = `
import { Tapline, type Payment, type PaymentIntent, OutcomeUnknownError } from 'tapline';
import { verify } from 'tapline/webhooks';
const tapline = new Tapline('tlsk_test_x');
const intent: PaymentIntent = await tapline.paymentIntents.create({ amount: 1, terminal: 'tml_x' });
for await (const payment of tapline.payments.list({ limit: 2 })) payment satisfies Payment;
const { data, requestId } = await tapline.refunds.create({ payment: 'pay_x' }).withResponse();
export const seen: [string, string | null] = [data.status, requestId];
const event = await verify('', new Headers(), 'whsec_x');
if (event.type === 'payment.succeeded') event.data.object satisfies Payment;
export const unknown = (error: unknown) => error instanceof OutcomeUnknownError;
export { intent };
`;

test("TypeScript finds the client's types with both kinds of module resolution", async () => {
  await writeFile(path.join(folder, 'use.ts'), USE);
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
  const lib = ['--lib', 'es2022,dom,dom.asynciterable', '--types', ''];
  for (const modules of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
    const args = [...strict, ...lib, '--module', ...modules, '--ignoreConfig', 'use.ts'];
    await run(tsc, args, { cwd: folder }).catch((error: { stdout: string }) => {
      assert.fail(`${modules}: ${error.stdout}`);
    });
  }
  const wrong = USE.replace("terminal: 'tml_x'", 'till: 1');
  await writeFile(path.join(folder, 'use.ts'), wrong);
  const args = [...strict, ...lib, '--module', 'nodenext', '--ignoreConfig', 'use.ts'];
  await assert.rejects(run(tsc, args, { cwd: folder }));
});
