import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { DEPLOY_WITHIN_MS, selectDeployment } from '#settlement/deployment-queries.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

test('a deployment that no worker sent in time is late, unless its block was undone', async (t) => {
  const { db, close } = await testDatabase();
  t.after(close);
  const now = new Date();
  const subjectId = 'testnet:0x1';
  const wallet = { wallet: '0x1', factory: '0x2', data: '0x' } as const;
  const job = {
    livemode: false,
    kind: 'wallet_deployment',
    subjectId,
    payload: wallet,
    now,
  } as const;
  assert.equal(await selectDeployment(db, subjectId, now), null);
  await db.transaction((tx) => requestOnChain(tx, job));
  const later = addMs(now, DEPLOY_WITHIN_MS + 1);
  assert.equal(await selectDeployment(db, subjectId, now), 'queued');
  assert.equal(await selectDeployment(db, subjectId, later), 'late');
  await db.query('update chain_requests set owed_since = created');
  assert.equal(await selectDeployment(db, subjectId, later), 'queued');
});
