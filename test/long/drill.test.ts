import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { keepSelling, type Sale, type Sales } from '#testkit/fixtures/payments/sales.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { type Archived, openArchived, whyNot } from './drill/archived.ts';
import { bookedSales, paidOf } from './ha/strikes.ts';

/** Tests `npm run drill`, which loses the database's machine and restores an earlier moment. */

const ADMIN = path.join(import.meta.dirname, '../../src/ops/admin-command.ts');
const REST_MS = 180_000;

let why: string | null = null;
let archived: Archived;
let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
const processes: ChaosProcess[] = [];

before(async () => {
  why = await whyNot();
  if (why !== null) return;
  archived = await openArchived();
  const own = await openChaosGround();
  await own.database.stop();
  ground = { ...own, database: { ...own.database, url: archived.url, stop: async () => {} } };
  sandbox = await makeShop(ground);
  db = openDatabase({ url: archived.url, maxConnections: 3 });
  processes.push(await startChaosProcess(ground, { name: 'api', role: 'api' }));
  processes.push(await startChaosProcess(ground, { name: 'worker', role: 'worker' }));
});

after(async () => {
  if (why !== null) return;
  await Promise.all(processes.map((one) => one.close()));
  await db?.close();
  await archived?.close();
  await ground?.close();
});

const apiUrl = () => processes.flatMap((one) => one.url ?? [])[0] ?? '';

/**
 * Starts a session that recovery must end, because its user may have ended it in the lost period.
 */
async function signIn(): Promise<void> {
  const browser = new PersonClient(`${apiUrl()}/dashboard/v1`);
  const answer = await browser.post('/session', { ...sandbox.dashboard });
  assert.equal(answer.status, 200, answer.text);
}

async function addEndpoint(): Promise<string> {
  const response = await fetch(`${apiUrl()}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.test.secret_key}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify({ url: 'http://127.0.0.1:9999/hook', enabled_events: ['*'] }),
  });
  const endpoint = (await response.json()) as { readonly id: string };
  assert.equal(response.status, 201, JSON.stringify(endpoint));
  return endpoint.id;
}

async function listAfterRestore(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, 'after-restore'], {
    env: { PATH: process.env.PATH ?? '', DATABASE_URL: archived.url },
  });
  return stdout;
}

async function sellFor(ms: number): Promise<Sales> {
  const url = apiUrl();
  const shop = keepSelling({
    node: () => url,
    shop: sandbox.test,
    clients: 4,
    onFailure: 'repeat',
  });
  await sleep(ms);
  await shop.stop();
  return shop;
}

const booksOf = (sales: readonly Sale[]) => bookedSales(db, sales);

test('a restored backup is completed from the chain, and says what cannot come back', async (t) => {
  if (why !== null) return t.skip(why);
  await signIn();
  const before = await sellFor(4_000);
  await archived.backUp();
  const between = await sellFor(4_000);
  await sleep(1_000);
  const moment = await archived.now();
  await sleep(1_000);
  const lost = await sellFor(4_000);
  const endpoint = await addEndpoint();
  // Waits for the archive, because only archived data can be restored.
  await sleep(8_000);
  const began = performance.now();
  await archived.lose();
  await archived.restore(moment);
  const restored = (performance.now() - began) / 1000;

  const also = async () => {
    const books = await booksOf(paidOf(lost));
    return books.length < paidOf(lost).length ? ['payments are missing'] : [];
  };
  const sources = { db, chains: [ground.testnet.config] };
  assert.deepEqual(await comeToRest(sources, { limitMs: REST_MS, also }), []);
  const whole = (performance.now() - began) / 1000;
  for (const shop of [before, between, lost]) {
    const books = await booksOf(paidOf(shop));
    assert.equal(books.length, paidOf(shop).length, 'every acknowledged payment is there');
    for (const { id, status, payments } of books) {
      assert.deepEqual([status, payments], ['succeeded', 1], id);
    }
  }
  const rebuilt = (await booksOf(paidOf(lost))).filter(({ recovered }) => recovered);
  assert(rebuilt.length > 0, 'what was paid after the moment came back from the chain');

  const after = await sellFor(3_000);
  assert(paidOf(after).length > 0, 'people pay again');
  const listed = await listAfterRestore();
  const [, booked] = /^testnet:.*\n.*booked from the chain: (\d+) payments/m.exec(listed) ?? [];
  assert(Number(booked) >= rebuilt.length, listed);
  assert.match(listed, /ended: 1 sessions of people/);
  for (const kind of ['API keys made', 'terminals and device keys', 'members and roles']) {
    assert.match(listed, new RegExp(`^  20\\S+  ${kind}$`, 'm'));
  }
  const [left] = await db.query('select 1 from webhook_endpoints where id = $1', [endpoint]);
  assert.equal(left, undefined, 'an endpoint from the lost period no longer exists');
  assert.match(listed, /^ {2}none {2}webhook endpoints$/m);
  const kept = paidOf(before).length + paidOf(between).length;
  t.diagnostic(
    `${kept} payments from the archive, ${paidOf(lost).length} acknowledged after the moment, ` +
      `${rebuilt.length} of them rebuilt from the chain; ` +
      `database back after ${restored.toFixed(0)} s, books whole after ` +
      `${whole.toFixed(0)} s`,
  );
});
