import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { checkInvariants } from '#testkit/simulation/invariants/invariants.ts';
import { openRestoreGround } from '#testkit/simulation/restore-ground.ts';

/** Taps are refused 10 s after a worker's last heartbeat, so the test taps before that. */
const FROZEN_MS = 8_000;
const DECLINED_MS = 6_000;
/** After waking up, a worker needs a few seconds for its leases and a block or two. */
const AWAKE_MS = 6_000;

const world = await openRestoreGround();
after(() => world.close());

describe('no worker for longer than a payment may take', () => {
  it('declines the tap at its deadline, and does not charge the payer 30 hours later', async () => {
    const { db, sandbox, nodes, ground } = world;
    const { merchant, terminal } = world.node(0);
    const worker = present(nodes[2], 'worker');
    const ready = () =>
      fetch(`${new URL(nodes[0]?.url ?? '').origin}/readyz`)
        .then((answer) => answer.text())
        .then((body) => JSON.parse(body).networks.testnet.settles === true);
    assert.ok(await waitUntil(() => ready().catch(() => false), 30_000), 'it settles at first');
    const sale = { amount: 1_000_000, terminal: sandbox.test.terminal };
    const created = await merchant.post('/payment_intents', sale);
    const path = `/payment_intents/${created.body.id}`;

    const frozen = worker.freeze(FROZEN_MS);
    const credential = { type: 'nfc_id', value: sandbox.test.passes.ok };
    const tap = terminal.post(`${path}/tap`, { credential }, 'tap');
    const status = async () => (await merchant.get(path)).body.status;
    assert.ok(await waitUntil(async () => (await status()) === 'processing', FROZEN_MS));
    const canceled = await merchant.post(`${path}/cancel`, {});
    assert.equal(canceled.status, 409, 'what may still be charged cannot be canceled');
    await db.query(`update chain_requests set deadline = now() - interval '30 hours'
      where kind = 'payment'`);
    const declined = async () => (await status()) === 'requires_payment_method';
    assert.ok(await waitUntil(declined, DECLINED_MS), 'an API process alone declines it');
    const told = (await tap).body;
    assert.equal(told.status, 'requires_payment_method');
    assert.partialDeepStrictEqual(told.last_payment_error, {
      decline_code: 'settlement_failed',
      reason_code: 'SETTLEMENT_UNAVAILABLE',
    });

    await frozen;
    await sleep(AWAKE_MS);
    assert.equal(await status(), 'requires_payment_method');
    const sources = { db, chains: [ground.testnet.config] };
    assert.deepEqual(await checkInvariants(sources, { atRest: true }), []);
    const signed = await db.query(`select 1 from chain_transactions where kind = 'payment'`);
    assert.deepEqual(signed, []);
    // The worker still works, because another tap can pay the same intent.
    const again = await terminal.post(`${path}/tap`, { credential }, 'again');
    assert.equal(again.body.status, 'succeeded', JSON.stringify(again.body));
  });
});
