import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newSecret } from '#core/bearer-secrets.ts';
import { atoms } from '#core/money.ts';
import { batchTerms } from '#payments/pay.ts';
import type { PayItem } from '#payments/pay-batch-state.ts';
import { payBatch } from '#payments/pay-taps-together.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import {
  addPayer,
  type Counter,
  intentMaker,
  newRequest,
  openStore,
  summaryOf,
} from '#testkit/fixtures/payments/store.ts';
import { addStore } from '#testkit/fixtures/payments/store-payments.ts';
import { limitPayer, mintToken, setRiskRules } from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
const AMOUNT = 2_500_000;
const INTENTS = 4;
const CREDENTIALS = 6;

const store = openForTests(() => openStore({ clock: new FakeClock(NOON) }));

/** A planned payment: its intent, its credential, and the chain's verdict. */
interface Planned {
  readonly intent: number;
  readonly credential: number;
  readonly chain: 'ok' | 'poor';
  /** The tip in atoms; only the first two intents allow tips. */
  readonly tip?: number;
}

/** Intents of a merchant that allows each payer two payments per hour, and the payers. */
interface Scene {
  readonly counter: Counter;
  readonly intents: readonly string[];
  readonly credentials: readonly PayItem['request']['presented'][];
}

async function openScene(): Promise<Scene> {
  const counter = await addStore(store, store.clock);
  await setRiskRules(counter, { velocityPerHour: 2 });
  const create = intentMaker(store);
  const intents: string[] = [];
  for (let i = 0; i < INTENTS; i++) {
    const tipping = i < 2 ? { tipping: { percentages: [10] } } : {};
    intents.push(await create(counter, { amount: AMOUNT, ...tipping }));
  }
  const free = await addPayer(store);
  const limited = await addPayer(store);
  const careful = await addPayer(store);
  await limitPayer(store, limited.payer.id, { perDay: AMOUNT });
  await limitPayer(store, careful.payer.id, { confirmFirst: true });
  const pass = (value: string) => ({ type: 'nfc_id' as const, value });
  const tokenOver = async (amount: number) => {
    const { token } = await mintToken(counter, free.payer.id, amount);
    return { type: 'agent_token' as const, value: token };
  };
  const credentials = [
    pass(free.pass),
    pass(limited.pass),
    pass(careful.pass),
    pass(newSecret('pass')),
    await tokenOver(AMOUNT),
    await tokenOver(AMOUNT + 1),
  ];
  return { counter, intents, credentials };
}

function toItems(scene: Scene, plan: readonly Planned[]): PayItem[] {
  return plan.map(({ intent, credential, chain, tip }) => ({
    request: {
      merchant: scene.counter.merchant,
      intentId: scene.intents[intent] ?? '',
      presented: scene.credentials[credential] ?? { type: 'nfc_id', value: '' },
      tip: tip === undefined ? null : atoms(tip),
      idempotency: newRequest(scene.counter),
      requestId: 'req_test',
      now: NOON,
    },
    preflight: chain === 'ok' ? { ok: true } : { ok: false, decline: 'insufficient_funds' },
  }));
}

/** Returns the final state of each intent: its status, and its event types in order. */
async function remains(scene: Scene): Promise<string[]> {
  const rows = await store.db.query<{ id: string; left: string }>(
    `select i.id, i.status || ' ' || (
       select string_agg(e.type, ',' order by e.position) from events e where e.object_id = i.id)
       || ' ' || coalesce((select string_agg(r.payload ->> 'amount', ',' order by r.id)
         from chain_requests r where r.subject_id = i.id), 'nothing') as left
     from payment_intents i where i.id = any($1)`,
    [scene.intents],
  );
  const byId = new Map(rows.map(({ id, left }) => [id, left]));
  return scene.intents.map((id) => byId.get(id) ?? '');
}

async function runTogether(scene: Scene, plan: readonly Planned[]): Promise<string[]> {
  const { paid } = await store.db.transaction((tx) =>
    payBatch(tx, toItems(scene, plan), batchTerms(store.ctx)),
  );
  return paid.map(({ answer }) => summaryOf(answer));
}

async function runOneByOne(scene: Scene, plan: readonly Planned[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const planned of plan) outcomes.push(...(await runTogether(scene, [planned])));
  return outcomes;
}

function each(...pairs: readonly (readonly [intent: number, credential: number])[]): Planned[] {
  return pairs.map(([intent, credential]) => ({ intent, credential, chain: 'ok' }));
}

/**
 * Plans in which later payments depend on earlier ones, because random plans rarely have such
 * payments.
 */
const EXAMPLES: [Planned[]][] = [
  [each([0, 0], [1, 0], [2, 0])],
  [each([0, 1], [1, 1])],
  [each([0, 4], [1, 4], [0, 4])],
  [each([0, 3], [0, 0], [0, 0])],
  [each([0, 2], [0, 0], [1, 2])],
  // The sale alone reaches the daily limit, so even a tip of one atom exceeds it.
  [[{ intent: 0, credential: 1, chain: 'ok', tip: 1 }, ...each([0, 1])]],
  [[{ intent: 2, credential: 0, chain: 'ok', tip: 0 }, ...each([2, 0])]],
];

test('payments in one transaction end as they would have one after the other', async () => {
  const fields = {
    intent: fc.nat(INTENTS - 1),
    credential: fc.nat(CREDENTIALS - 1),
    chain: fc.constantFrom<Planned['chain'][]>('ok', 'ok', 'ok', 'poor'),
  };
  const tipped = fc.record({ ...fields, tip: fc.constantFrom(0, 1, AMOUNT, AMOUNT + 1) });
  const plans = fc.array(fc.oneof(fc.record(fields), tipped), { minLength: 2, maxLength: 12 });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const [together, oneByOne] = [await openScene(), await openScene()];
      const outcomes = await runTogether(together, plan);
      assert.deepEqual(outcomes, await runOneByOne(oneByOne, plan));
      assert.deepEqual(await remains(together), await remains(oneByOne));
      for (const outcome of outcomes) seen.add(outcome);
    }),
    { numRuns: 40, examples: EXAMPLES },
  );
  // The examples must cover these results, which depend on earlier payments of the batch.
  for (const outcome of [
    'limit_exceeded',
    'risk_blocked',
    'agent_token_used',
    'parameter_invalid',
  ]) {
    assert.ok(seen.has(outcome), `no plan came to ${outcome}`);
  }
});

test('a pass that was created after the chain was asked does not pay yet', async () => {
  const scene = await openScene();
  // Simulates a pass that did not exist when it was read before the batch, so that the chain was
  // not queried.
  const items = toItems(scene, each([0, 0])).map((item) => ({ ...item, preflight: null }));
  const { paid } = await store.db.transaction((tx) => payBatch(tx, items, batchTerms(store.ctx)));
  assert.deepEqual(
    paid.map(({ answer }) => summaryOf(answer)),
    ['service_unavailable'],
  );
  const [left] = await remains(scene);
  assert.equal(left, 'requires_payment_method payment_intent.created nothing');
});

test('a tap waits for a running decision about its intent, and then sees it', async () => {
  const scene = await openScene();
  const cancel = await underWay(store.db, (tx) =>
    tx.query(
      `update payment_intents set status = 'canceled', canceled_at = now(),
         cancellation_reason = 'requested_by_merchant' where id = $1`,
      [scene.intents[0]],
    ),
  );
  const tapped = runTogether(scene, each([0, 0]));
  await waitingForLocks(store.db, 1);
  await cancel.commit();
  assert.deepEqual(await tapped, ['payment_intent_unexpected_state']);
});

test('payments of one batch share the rest of their account’s hourly share', async () => {
  const [mine, other] = [await openScene(), await openScene()];
  const items = [
    ...toItems(mine, each([0, 0])),
    ...toItems(other, each([0, 0])),
    ...toItems(mine, each([1, 0])),
  ];
  // Each account has room for one more of these sales in its hourly share.
  const readiness = { ...store.readiness, shareOf: () => BigInt(AMOUNT) };
  const { paid } = await store.db.transaction((tx) =>
    payBatch(tx, items, { ...batchTerms(store.ctx), readiness }),
  );
  const [first, foreign, second] = paid.map(({ answer }) => summaryOf(answer));
  assert.equal(first, foreign);
  assert.notEqual(first, 'service_unavailable');
  assert.equal(second, 'service_unavailable');
});
