import assert from 'node:assert/strict';
import { mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { build, type Rollup } from 'vite';
import { present } from '#core/assert.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, type TestBrowser } from '../../web/testing/browser.ts';
import { fund } from '../../web/testing/payer.ts';
import { addTestTerminal, paymentsOf } from '../../web/testing/till.ts';

/** The chip manufacturer's unmodified library signs a sale on our emulated chip, in Chromium. */

const ROOT = path.join(import.meta.dirname, '../..');
const CHIP_USDC = 10_000_000n;

let tool: Tool;
let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  tool = await installTool('halo', testFolder());
  const modules = path.join(tool.cwd, 'node_modules');
  await mkdir(modules, { recursive: true });
  await rm(path.join(modules, 'viem'), { recursive: true, force: true });
  await symlink(path.join(ROOT, 'node_modules/viem'), path.join(modules, 'viem'));
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser?.close();
  await shared?.close();
});

async function bundle(): Promise<string> {
  const built = await build({
    root: tool.cwd,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    resolve: {
      alias: [
        { find: /^crypto$/, replacement: path.join(tool.cwd, 'crypto.js') },
        { find: '#counter', replacement: path.join(ROOT, 'web/terminal/counter') },
      ],
    },
    build: {
      write: false,
      lib: { entry: path.join(tool.cwd, 'page.js'), formats: ['iife'], name: 'page' },
    },
  });
  const [first] = Array.isArray(built) ? built : [];
  const [chunk] = (present(first, 'the bundle') as Rollup.RollupOutput).output;
  return chunk.code;
}

interface Halo {
  run(command: object): Promise<{ etherAddresses: Record<number, string> } & Signed>;
}

interface Signed {
  readonly signature: { readonly ether: string };
  readonly etherAddress: string;
}

test('libhalo signs a sale that the till submits, once and for this sale alone', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const till = caller(`${sandbox.web_url}/api/device/v1`, terminal.deviceKey);
  const window = await browser.open();
  await window.page.goto(`${sandbox.web_url}/terminal`);
  const chipKey = generatePrivateKey();
  const chip = privateKeyToAccount(chipKey);
  await fund(sandbox, chip, CHIP_USDC);
  // The library's dependencies were written for Node and check its version, so the page gets a
  // `process` object.
  await window.page.evaluate((key) => {
    const process = { env: {}, version: 'v24.0.0', browser: true, nextTick: queueMicrotask };
    Object.assign(globalThis, { chipKey: key, process });
  }, chipKey);
  await window.page.evaluate(await bundle());
  const exec = (command: object) =>
    window.page.evaluate((sent) => (globalThis as unknown as { halo: Halo }).halo.run(sent), {
      ...command,
    });
  const { etherAddresses } = await exec({ name: 'get_pkeys' });
  assert.equal(etherAddresses[1], chip.address);
  const from = chip.address;
  const open = async () =>
    String((await till.post('/payment_intents', { amount: 2_500_000 })).body.id);
  const [sale, other] = [await open(), await open()];
  const at = (id: string) => `/payment_intents/${id}/authorization`;
  const { body } = await till.get(`${at(sale)}?from=${from}`);
  const { domain, types: told, message } = body.typed_data as Record<string, object>;
  // Signs with ethers, which derives the domain's type.
  const { EIP712Domain: _, ...types } = told as { readonly EIP712Domain: object };
  const signed = await exec({
    name: 'sign',
    keyNo: 1,
    typedData: { domain, types, value: message },
  });
  assert.equal(signed.etherAddress, from);
  const { ether: signature } = signed.signature;
  assert.equal((await till.post(at(other), { from, signature })).status, 400, 'another sale');
  const paid = await till.post(at(sale), { from, signature });
  assert.deepEqual([paid.status, paid.body.status], [200, 'succeeded'], JSON.stringify(paid.body));
  assert.deepEqual((await till.post(at(sale), { from, signature })).body.id, paid.body.id);
  const payments = await paymentsOf(sandbox, terminal);
  assert.equal(payments.length, 1);
  assert.deepEqual(payments[0]?.payment_method, { type: 'wallet', credential: 'chip' });
  await window.close();
});
