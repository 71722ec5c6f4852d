import assert from 'node:assert/strict';
import { cp, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type SpawnedNetwork, spawnMain, spawnNetwork } from '#testkit/network/spawn-network.ts';
import { openBrowser, type TestBrowser } from '../../web/testing/browser.ts';
import { openWallet, WALLET_PASSWORD } from '../../web/testing/wallet.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Files that a start reads; packages and tools are linked. */
const COPIED = [
  'src',
  'web',
  'migrations',
  'contracts',
  'docs',
  'openapi.json',
  'package.json',
  'tsconfig.json',
];
const LINKED = ['node_modules', 'package-lock.json', 'sdk', 'cli', 'x402', 'reader', 'python'];
const DEEP = { recursive: true } as const;
const STRANGER = `0x${'66'.repeat(20)}`;

const folder = testFolder();
let network: SpawnedNetwork;
let browser: TestBrowser;

/** Writes the operator's contracts file, before the build. */
async function name(testnet: Readonly<Record<string, unknown>>): Promise<void> {
  await writeFile(path.join(folder, 'web/contracts.json'), JSON.stringify({ testnet }));
}

before(async () => {
  await Promise.all([
    ...COPIED.map((entry) => cp(path.join(ROOT, entry), path.join(folder, entry), DEEP)),
    ...LINKED.map((entry) => symlink(path.join(ROOT, entry), path.join(folder, entry))),
  ]);
});

after(async () => {
  await browser?.close();
  await network?.stop();
});

test('a contracts file with a wrong address ends the build with one line', async () => {
  await name({ chainId: 31337, usdc: '0x12' });
  const { child, logs } = spawnMain({ dataDir: path.join(folder, 'data'), root: folder });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(code, 1);
  assert.match(logs(), /web\/contracts\.json: testnet is not as web\/README\.md says/);
});

test('a wallet built for other contracts signs nothing, even at first use', async () => {
  const dataDir = path.join(folder, 'data');
  const first = await spawnNetwork({ dataDir });
  const { chain_id: chainId, usdc } = first.sandbox.test;
  await first.stop();
  // Everything equals the service's own contracts, except for the contract that may take the money.
  const usdcDomain = { name: 'USD Coin', version: '2' };
  await name({ chainId, usdc, usdcDomain, settlement: STRANGER });
  network = await spawnNetwork({ dataDir, root: folder });
  browser = await openBrowser();
  const wallet = await openWallet(browser, network.sandbox);
  const signed: string[] = [];
  wallet.page.on('request', (request) => {
    if (/\/(sign_in|approvals)$/.test(request.url())) signed.push(request.url());
  });
  await wallet.button(/^Create wallet/).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await wallet
    .dialog()
    .getByRole('button', { name: /^Create wallet/ })
    .click();
  await wallet.sees(/The wallet signs nothing until you have reviewed them/);
  await wallet.button(/^Sign in/).click();
  await wallet.sees(/reports different contracts or higher fees .* nothing was signed/);
  assert.deepEqual(signed, []);
  await wallet.close();
});
