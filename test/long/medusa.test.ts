import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

/**
 * Runs the payment provider in Medusa's payment module and in a complete shop, on a real network.
 */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
/** Disables the logger's progress bars and Medusa's telemetry. */
const SHOP_ENV = {
  ...{ PATH: process.env.PATH ?? '', NODE_ENV: 'production', MEDUSA_DISABLE_TELEMETRY: 'true' },
};

/** Limit of a program's output in bytes, because Medusa logs a line per request. */
const OUTPUT = 64 * 2 ** 20;

const folder = testFolder();
/** A checkout of `integrations/medusa` only, after `npm ci`. */
let checkout: string;
/** A project in which a merchant has installed the provider beside Medusa. */
let shop: string;
let network: OwnNetwork;
let postgres: Awaited<ReturnType<typeof startThrowawayPostgres>>;

before(async () => {
  checkout = path.join(folder, 'integrations/medusa');
  shop = path.join(folder, 'shop');
  const isSource = (file: string) => !file.includes('node_modules');
  await cp(path.join(ROOT, 'integrations/medusa'), checkout, { recursive: true, filter: isSource });
  await mkdir(path.join(folder, 'sdk'));
  await cp(path.join(ROOT, 'sdk/package.json'), path.join(folder, 'sdk/package.json'));
  // Our packages are not in a registry yet, so the lockfile links the client's folder.
  await run('npm', ['ci', ...QUIET], { cwd: checkout });
  network = await startOwnNetwork();
  postgres = await startThrowawayPostgres();
  const modules = path.join(checkout, 'node_modules');
  assert.equal(await readlink(path.join(modules, 'tapline')), '../../../sdk');
  await unpack('tapline.tgz', path.join(folder, 'sdk'));
  await unpack('tapline-medusa.tgz', path.join(modules, 'tapline-medusa'));
  const journey = 'journey.mjs';
  await cp(path.join(import.meta.dirname, 'medusa', journey), path.join(checkout, journey));
});

after(async () => {
  await network?.close();
  await postgres?.stop();
});

/** Unpacks a served package where npm would install it. */
async function unpack(name: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const archive = path.join(folder, name);
  const served = await fetch(`${network.sandbox.web_url}/packages/${name}`);
  await writeFile(archive, Buffer.from(await served.arrayBuffer()));
  await run('tar', ['--extract', '--strip-components=1', '--file', archive], { cwd: to });
}

async function shopSettings(database: string) {
  const { base_url: baseUrl, test: mode } = network.sandbox;
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${database}`);
  await client.end();
  const { href: databaseUrl } = new URL(`/${database}`, postgres.url);
  return { databaseUrl, baseUrl, apiKey: mode.secret_key, terminal: mode.terminal };
}

async function lastLineOf(cwd: string, ...args: readonly string[]): Promise<unknown> {
  const env = { ...SHOP_ENV, HOME: folder };
  const { stdout } = await run(process.execPath, args, { cwd, env, maxBuffer: OUTPUT });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

test('an order is paid at the terminal, changed, refunded and reported by webhook', async () => {
  const settings = { ...(await shopSettings('payments')), webhookSecret: 'whsec_medusa' };
  const seen = await lastLineOf(checkout, 'journey.mjs', JSON.stringify(settings));
  const { unpaid, tooLate, forged, currency, nothing, ...rest } = seen as Record<string, unknown>;
  assert.deepEqual(rest, {
    begun: ['pending', true],
    renewed: ['expired', 'requires_payment_method', 2_500_000],
    changed: ['canceled', 'requires_payment_method', 3_250_000],
    captured: [1, 3.25],
    refunded: [3_250_000, 3_250_000, 'refunded'],
    webhook: ['captured', true, 3.25],
    fraction: [87_957_975, '87.957975333', 87.957975333, 87_957_975, 'refunded'],
    halves: [2_000_001, 'refunded'],
    deleted: 'canceled',
  });
  assert.match(String(unpaid), /was not authorized/);
  assert.match(String(tooLate), /Give the money back instead/);
  assert.match(String(forged), /signature/);
  assert.match(String(currency), /takes usdc, usd, and this order is in eur/);
  assert.match(String(nothing), /amount/);
});

test("the README's command works in an empty folder, before anything is published", async () => {
  const guide = await readFile(path.join(ROOT, 'integrations/medusa/README.md'), 'utf8');
  const [, commands = ''] = /^```sh\n(curl -O [\s\S]*?)```$/m.exec(guide) ?? [];
  const { web_url } = network.sandbox;
  const cwd = shop;
  await mkdir(cwd);
  await run('sh', ['-ec', commands.replace('https://<network>', web_url)], { cwd });
  const program = `const { default: { services } } = await import('tapline-medusa');
    console.log(services.map(({ identifier }) => identifier).join());`;
  const args = ['--input-type=module', '--eval', program];
  assert.equal((await run(process.execPath, args, { cwd, env: SHOP_ENV })).stdout, 'tapline\n');
  const bundled = await readdir(path.join(cwd, 'node_modules/tapline-medusa/node_modules'));
  const packages = bundled.filter((name) => !name.startsWith('.'));
  assert.deepEqual(packages, ['tapline'], 'no stranger can publish the client that it uses');
});

test('an abandoned cart is canceled or ordered, and never paid without an order', async () => {
  const { devDependencies } = JSON.parse(
    await readFile(path.join(ROOT, 'integrations/medusa/package.json'), 'utf8'),
  ) as { readonly devDependencies: Readonly<Record<string, string>> };
  const version = devDependencies['@medusajs/framework'];
  const medusa = ['framework', 'medusa'].map((name) => `@medusajs/${name}@${version}`);
  const client = `${network.sandbox.web_url}/packages/tapline.tgz`;
  await run('curl', ['-sO', client], { cwd: shop });
  await run('npm', ['i', ...QUIET, './tapline.tgz', ...medusa], { cwd: shop });
  await cp(path.join(import.meta.dirname, 'medusa/shop'), path.join(shop, 'shop'), {
    recursive: true,
  });
  // One completion times out before the cart is abandoned, while a later one is still waiting.
  const settings = { ...(await shopSettings('shop')), waitSeconds: 30 };
  const unused = JSON.stringify({ ...settings, webhookSecret: 'whsec_unused' });
  const env = { ...SHOP_ENV, HOME: folder, SHOP_SETTINGS: unused };
  await run(process.execPath, ['shop/migrate.mjs'], { cwd: shop, env, maxBuffer: OUTPUT });
  const seen = await lastLineOf(shop, 'shop/abandoned.mjs', JSON.stringify(settings));
  const ordered = (captured: number) => {
    return { intent: 'succeeded', refunded: 0, orders: 1, captured };
  };
  const canceled = { intent: 'canceled', refunded: null, orders: 0, captured: 0 };
  assert.deepEqual(seen, {
    completions: { gaveUp: 'not_allowed', hungUp: 'AbortError' },
    carts: {
      ...{ neverCompleted: ordered(2.5), gaveUp: ordered(3.25), hungUp: ordered(4) },
      ...{ changed: canceled, dropped: canceled },
    },
  });
});
