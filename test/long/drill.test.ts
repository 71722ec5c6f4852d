import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { caller } from '#testkit/apis/api-client.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type Archived, openArchived, PACKAGES } from './machines/archived.ts';
import { restoreOnce } from './machines/moments.ts';
import { Rig } from './machines/rig.ts';
import { whyNoMachines } from './machines/room.ts';
import { paidOf } from './machines/strikes.ts';

/** Tests `npm run drill`, which loses the database's machine and restores an earlier moment. */

const ADMIN = path.join(import.meta.dirname, '../../src/ops/admin-command.ts');
const SALE_MS = 4_000;
/** Only archived data can be restored. */
const ARCHIVED_MS = 8_000;

let archived: Archived;
let nextNode: () => string;

const rig = new Rig(async ({ undo }) => {
  const why = await whyNoMachines(PACKAGES);
  if (why !== null) return why;
  archived = await openArchived(undo);
  await rig.openGround(archived.url);
  await rig.openShop({ node: () => nextNode(), clients: 4 });
  nextNode = await rig.startNodes(['api', 'worker']);
  return null;
});

/**
 * Starts a session that recovery must end, because its user may have ended it in the lost period.
 */
async function signIn(): Promise<void> {
  const browser = new PersonClient(`${nextNode()}/dashboard/v1`);
  const answer = await browser.post('/session', { ...rig.sandbox.dashboard });
  assert.equal(answer.status, 200, answer.text);
}

async function addEndpoint(): Promise<string> {
  const merchant = caller(`${nextNode()}/v1`, rig.sandbox.test.secret_key);
  const endpoint = { url: 'http://127.0.0.1:9999/hook', enabled_events: ['*'] };
  const { status, body } = await merchant.post('/webhook_endpoints', endpoint);
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.id);
}

async function listAfterRestore(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, 'after-restore'], {
    env: { PATH: process.env.PATH ?? '', DATABASE_URL: archived.url },
  });
  return stdout;
}

rig.check(
  'a restored backup is completed from the chain, and says what cannot come back',
  async () => {
    const { db } = rig;
    await signIn();
    const before = await rig.sellFor(SALE_MS);
    await archived.backUp();
    let endpoint = '';
    const said = await restoreOnce({
      ...{ db, sellFor: () => rig.sellFor(SALE_MS) },
      restore: async (moment) => {
        endpoint = await addEndpoint();
        await sleep(ARCHIVED_MS);
        await archived.restore(moment);
      },
    });
    await rig.books(before);
    const after = await rig.sellFor(SALE_MS);
    assert(paidOf(after).length > 0, 'people pay again');
    await rig.books(after);
    const listed = await listAfterRestore();
    const [, booked] = /^testnet:.*\n.*booked from the chain: (\d+) payments/m.exec(listed) ?? [];
    const [, rebuilt] = /, (\d+) from the chain/.exec(said) ?? [];
    assert(Number(booked) >= Number(rebuilt), listed);
    assert.match(listed, /ended: 1 sessions of people/);
    for (const kind of ['API keys made', 'terminals and device keys', 'members and roles']) {
      assert.match(listed, new RegExp(`^  20\\S+  ${kind}$`, 'm'));
    }
    const [left] = await db.query('select 1 from webhook_endpoints where id = $1', [endpoint]);
    assert.equal(left, undefined, 'an endpoint from the lost period no longer exists');
    assert.match(listed, /^ {2}none {2}webhook endpoints$/m);
    return `${paidOf(before).length} payments before the backup; ${said}`;
  },
);
