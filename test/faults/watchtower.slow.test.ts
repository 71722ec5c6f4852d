import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { walletKey } from '#sandbox/derive-wallets.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { SUPERUSER } from '#sandbox/postgres-cluster.ts';
import { runPsqlScript } from '#testkit/fixtures/core/psql-script.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { type ChaosProcess, startChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import {
  DRAWN_BY_NOBODY,
  openRestoreGround,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';

/** A watchtower as its operator starts it, with the database role from `deploy/watch`. */

const ROLE = path.join(import.meta.dirname, '../../deploy/watch/role.sql');
const PASSWORD = 'watch-only';
const STOLEN = 200_000_000n;
/** Time limit for two blocks and the pause in the next one, with a reserve for a busy machine. */
const STOPPED_MS = 20_000;
const MAILED_MS = 10_000;

let world: RestoreGround;
let tower: ChaosProcess;
const addresses: ProviderProxy[] = [];

before(async () => {
  world = await openRestoreGround();
  const { ground } = world;
  const env: Record<string, string> = {
    DATABASE_URL: await grantRole(),
    GASLESS_TRANSFERS: 'none',
  };
  for (const { config } of ground.chains) {
    const prefix = `CHAIN_${config.network.toUpperCase()}`;
    const [first = ''] = config.rpcUrls;
    const second = await startProviderProxy(first);
    addresses.push(second);
    env[`${prefix}_RPC_URL`] = [first, second.url].join();
    env[`${prefix}_WATCHER_KEY`] = walletKey(ground.secret, `${config.network} watcher`);
    for (const key of ['RELAYER_KEYS', 'REGISTRAR_KEY', 'SPONSOR_KEY'])
      env[`${prefix}_${key}`] = '';
  }
  tower = await startChaosProcess(ground, { name: 'watch', role: 'watch', env });
});

after(async () => {
  await tower?.close();
  for (const address of addresses) await address.stop();
  await world?.close();
});

/** Runs `deploy/watch/role.sql`. @returns the database URL with that role. */
async function grantRole(): Promise<string> {
  const { ground } = world;
  const url = new URL(ground.database.url);
  const secret = await readFile(path.join(ground.folder, 'secrets/postgres-superuser'), 'utf8');
  url.username = SUPERUSER;
  url.password = Buffer.from(secret.trim(), 'hex').toString('base64url');
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await runPsqlScript(client, ROLE, { password: PASSWORD });
  await client.end();
  return roleUrl();
}

function roleUrl(): string {
  const url = new URL(world.ground.database.url);
  url.username = 'tapline_watch';
  url.password = PASSWORD;
  return url.href;
}

/**
 * True if the email was sent: a worker without a mail server writes each one to a file in its
 * folder.
 */
async function isMailed(): Promise<boolean> {
  const folder = path.join(world.ground.folder, 'worker 0', 'mail');
  const files = await readdir(folder).catch(() => []);
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  return texts.some((text) => text.includes('Activity outside Tapline on testnet'));
}

describe('an attacker has the key of a sender', () => {
  it('stops the contract while everything else goes on', async () => {
    await world.pay('HONEST');
    const stolen = {
      payer: (await world.payerOf('ok')).address,
      merchantNumber: await world.merchantNumber(),
      ...{ amount: STOLEN, orderId: 'STOLEN-1', number: DRAWN_BY_NOBODY + 1n },
    };
    await world.outside.settle([stolen]);
    const done = 'select count(*) from watch_steps where done_at is not null';
    const stopped = async () => (await world.count(done)) === 2;
    const started = performance.now();
    assert.ok(
      await waitUntil(stopped, STOPPED_MS),
      `it did not stop:\n${tower.logs().slice(-3000)}`,
    );
    const alarms = await world.db.query<{ kind: string; subject: string }>(
      'select kind, subject from chain_alarms where resolved_at is null order by kind',
    );
    assert.ok(
      alarms.some(
        ({ kind, subject }) => kind === 'foreign_key_used' && subject.startsWith('merchant'),
      ),
      JSON.stringify(alarms),
    );
    assert.ok(await waitUntil(isMailed, MAILED_MS), 'no operator was mailed');
    const created = await world.create(0, 'AFTER');
    assert.equal(created.status, 201, 'the API still creates payments');
    assert.equal((await world.recovery()).status, 'done', 'no recovery was requested');
    assert.ok(performance.now() - started < STOPPED_MS);
  });

  it('cannot write to the ledger', async () => {
    const client = new pg.Client({ connectionString: roleUrl() });
    await client.connect();
    for (const sql of [
      `update payments set amount = amount + 1`,
      `update payment_intents set status = 'succeeded'`,
      `delete from chain_alarms`,
      `update network_recoveries set status = 'recovering'`,
    ]) {
      await assert.rejects(client.query(sql), /permission denied/, sql);
    }
    await client.end();
  });
});
