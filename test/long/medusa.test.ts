import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ensurePackages } from '#packages/built.ts';
import { startThrowawayPostgres } from '#sandbox/postgres.ts';
import { type SpawnedNetwork, spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';

/** The payment provider in Medusa's own payment module, with its tables, against a real network. */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');

let folder: string;
let data: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let postgres: Awaited<ReturnType<typeof startThrowawayPostgres>>;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-medusa-'));
  await cp(path.join(ROOT, 'integrations/medusa'), folder, { recursive: true });
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  // The client is not in a registry yet: the lockfile leaves it out, and it is copied below.
  const manifest = path.join(folder, 'package.json');
  const { dependencies: _, ...rest } = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, JSON.stringify(rest));
  // Its peer is Medusa's command line, which nothing here runs.
  await run('npm', ['ci', '--legacy-peer-deps', ...quiet], { cwd: folder });
  // As they will come from the registry once they are published.
  const modules = path.join(folder, 'node_modules');
  await cp(path.join(await ensurePackages(), 'sdk/dist'), path.join(modules, 'tapline/dist'), {
    recursive: true,
  });
  await cp(path.join(ROOT, 'sdk/package.json'), path.join(modules, 'tapline/package.json'));
  for (const file of ['index.js', 'provider.js', 'package.json']) {
    const installed = path.join(modules, 'tapline-medusa', file);
    await cp(path.join(ROOT, 'integrations/medusa', file), installed);
  }
  await cp(path.join(import.meta.dirname, 'medusa'), folder, { recursive: true });
  data = await temporaryDataDir();
  [network, postgres] = await Promise.all([
    spawnNetwork({ dataDir: data.path }),
    startThrowawayPostgres(),
  ]);
});

after(async () => {
  await network?.stop();
  await postgres?.stop();
  await data?.remove();
  await rm(folder, { recursive: true, force: true });
});

test('an order is paid at the terminal, changed, given back and told of by webhook', async () => {
  const { base_url: baseUrl, test: mode } = network.sandbox;
  const settings = {
    databaseUrl: postgres.url,
    baseUrl,
    apiKey: mode.secret_key,
    terminal: mode.terminal,
    webhookSecret: 'whsec_medusa',
  };
  const env = { PATH: process.env.PATH, HOME: folder, MEDUSA_DISABLE_TELEMETRY: 'true' };
  const args = ['journey.mjs', JSON.stringify(settings)];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env });
  const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  const { unpaid, tooLate, forged, currency, nothing, ...rest } = seen;
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
