import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { BEHAVIORS, type Behavior } from '#testkit/network/provider-behaviors.ts';
import type { ProviderProxy } from '#testkit/network/provider-proxy.ts';
import { openRestoreGround, type RestoreGround } from '#testkit/simulation/restore-ground.ts';

/**
 * Tests a service whose only node misbehaves for a while. A missing answer must never count as
 * evidence.
 */

/** Time limit, from the node's recovery until every job has a result. */
const DECIDED_MS = 15_000;

let world: RestoreGround;
let provider: ProviderProxy;

before(async () => {
  world = await openRestoreGround();
  assert.ok(world.ground.testnet.provider !== null);
  provider = world.ground.testnet.provider;
});
after(() => world?.close());
afterEach(() => {
  provider.behavior = null;
});

interface Asked {
  readonly intents: readonly unknown[];
  readonly refunds: readonly unknown[];
}

/** Customers act while the node misbehaves. @returns the jobs that need a result. */
async function ask(name: string, taps: number, refundable: readonly string[]): Promise<Asked> {
  const orders = Array.from({ length: taps }, (_, position) => `${name}-${position}`);
  const created = await Promise.all(orders.map((order) => world.create(0, order)));
  const intents = created.map(({ body }) => body.id);
  // The till retries as long as the service asks for it.
  for (const intent of intents) void world.tap(0, intent, `tap ${intent}`).catch(() => {});
  const refunds = await Promise.all(
    refundable.map(async (payment) => {
      const body = { payment, amount: 500_000 };
      void world.refund(0, body, `refund ${payment}`).catch(() => {});
      let id: unknown;
      const isAsked = async () => {
        const sql = 'select id from refunds where payment_id = $1';
        [{ id } = { id: undefined }] = await world.db.query<{ id: string }>(sql, [payment]);
        return id !== undefined;
      };
      assert.ok(await waitUntil(isAsked, DECIDED_MS), 'the refund was not accepted');
      return id;
    }),
  );
  return { intents, refunds };
}

async function undecided({ intents, refunds }: Asked): Promise<string[]> {
  const rows = await world.db.query<{ id: string; status: string }>(
    `select id, status from payment_intents where id = any($1) and status <> 'succeeded'
     union all select id, status from refunds where id = any($2) and status <> 'succeeded'`,
    [intents, refunds],
  );
  return rows.map(({ id, status }) => `${id} ${status}`);
}

async function decidedSoon(request: Asked): Promise<void> {
  await waitUntil(async () => (await undecided(request)).length === 0, DECIDED_MS);
  assert.deepEqual(await undecided(request), []);
}

async function alarms(): Promise<string[]> {
  const sql = 'select kind from chain_alarms where not livemode and resolved_at is null';
  return (await world.db.query<{ kind: string }>(sql)).map(({ kind }) => kind);
}

/**
 * Customers tap and a shop refunds while the node misbehaves. Afterwards the state must equal that
 * of a healthy node.
 */
async function whileNode(
  name: string,
  odd: { readonly behavior: Behavior; readonly ms: number; readonly taps: number },
): Promise<void> {
  const open = await world.create(0, `${name}-O`);
  const paid = [await world.pay(`${name}-P1`), await world.pay(`${name}-P2`)];
  const before = await world.recovery();
  provider.behavior = odd.behavior;
  const since = performance.now();
  const refundable = paid.map(({ payment }) => payment);
  const request = await ask(name, odd.taps, refundable);
  await sleep(odd.ms - (performance.now() - since));
  provider.behavior = null;
  await decidedSoon(request);
  const { request_count: recoveries, loss_shown: lossShown } = await world.recovery();
  assert.deepEqual(
    [recoveries, lossShown],
    [before.request_count, before.loss_shown],
    'no recovery',
  );
  assert.deepEqual(await alarms(), []);
  assert.equal((await world.readIntent(open.body.id)).status, 'requires_payment_method');
  const tapped = await world.tap(0, open.body.id, `tap ${name}-O`);
  assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
  await world.comeToRest();
}

describe('the only node', () => {
  it('shows no receipts for 12 s and logs of ten blocks only: everything waits', async () => {
    const { answer: narrow } = BEHAVIORS['gives logs of ten blocks']();
    const behavior: Behavior = {
      answer: (call, real, head) =>
        call.method === 'eth_getTransactionReceipt' ? { result: null } : narrow?.(call, real, head),
    };
    await whileNode('NULL', { behavior, ms: 12_000, taps: 10 });
  });

  it('is one of another chain for 5 s: every job gets its result afterwards', async () => {
    const behavior = BEHAVIORS['has become one of another chain']();
    await whileNode('AWAY', { behavior, ms: 5_000, taps: 6 });
  });
});

interface Placed {
  readonly id: string;
  readonly tx_hash: string;
  readonly block_number: bigint;
  readonly log_index: number;
}

describe('the chain', () => {
  const places = (table: string) =>
    world.db.query<Placed>(
      `select p.id, t.tx_hash, t.block_number, t.log_index from payments p
       join ${table} t on t.livemode = p.livemode and t.${
         table === 'payments'
           ? 'settlement_number = p.settlement_number'
           : 'number = p.settlement_number'
       } where p.order_id like 'MOVE-%' order by p.id`,
    );

  it('replaces its two newest blocks: the ledger follows, and no alarm is open', async () => {
    const orders = Array.from({ length: 5 }, (_, position) => `MOVE-${position}`);
    await putRates(world.db, { eur: '1', usd: '1' }, { now: new Date() });
    const line_items = [{ name: 'Coffee', quantity: 2, unit_amount: 125, tax_rate: 700 }];
    const sale = { presentment: { currency: 'eur', amount: 250 }, line_items };
    const sold = await Promise.all(orders.map((order) => world.pay(order, { sale })));
    const [first] = sold;
    assert.ok(first !== undefined);
    const readFirst = () => world.read(`/payments/${first.payment}`);
    const paid = await readFirst();
    const before = await places('payments');
    await world.ground.testnet.reorganize(4);
    const isMoved = async () => {
      const [ours, theirs] = [await places('payments'), await places('chain_payments')];
      return (
        JSON.stringify(ours, plain) !== JSON.stringify(before, plain) &&
        JSON.stringify(ours, plain) === JSON.stringify(theirs, plain)
      );
    };
    await waitUntil(isMoved, DECIDED_MS * 3);
    assert.deepEqual(await places('payments'), await places('chain_payments'));
    assert.notDeepEqual(await places('payments'), before);
    assert.deepEqual(await alarms(), []);
    const body = await readFirst();
    const [row] = (await places('payments')).filter(({ id }) => id === first.payment);
    assert.equal(body.tx_hash, row?.tx_hash);
    // The payment is in another block, but its price, lines and taxes are still those of the sale.
    assert.ok(paid.presentment !== null && paid.taxes !== null);
    const soldOf = ({ presentment, line_items, taxes, shop_rate }: typeof paid) => {
      return { presentment, line_items, taxes, shop_rate };
    };
    assert.deepEqual(soldOf(body), soldOf(paid));
    await world.comeToRest();
  });
});

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
