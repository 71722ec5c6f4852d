import assert from 'node:assert/strict';
import { createPublicClient, type Hex, http, parseAbiItem } from 'viem';
import type { Database } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type RawLog, readEvents } from '#settlement/contract/contract-events.ts';
import { caller } from '#testkit/apis/api-client.ts';
import type { HeldSale } from '../../terminal/offline/held-sales.ts';
import type { TestTerminal } from '../till.ts';

/** This module compares the sales of a run according to the tills, the API and the contract. */

export interface Run {
  readonly sandbox: SandboxFile;
  readonly db: Database;
  readonly terminals: readonly TestTerminal[];
  /** The sales that each till has stored, in the order of the terminals. */
  readonly held: readonly (readonly HeldSale[])[];
}

/** A sale as the merchant's API lists it. */
interface Listed {
  readonly id: string;
  readonly nonce: string;
  readonly status: string;
  readonly amount: number;
  readonly payment: string | null;
  readonly payment_intent: string | null;
  readonly bounce_reason: string | null;
}

async function listSales({ sandbox, terminals }: Run): Promise<readonly Listed[]> {
  const merchant = caller(`${sandbox.base_url}/v1`, sandbox.test.secret_key);
  const all: Listed[] = [];
  for (const { id } of terminals) {
    let cursor = '';
    do {
      const { body } = await merchant.get(
        `/offline_payments?limit=100&terminal=${id}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      all.push(...(body.data as Listed[]));
      cursor = body.has_more === true ? String(body.next_cursor) : '';
    } while (cursor !== '');
  }
  return all;
}

/**
 * Returns every sale that a till has stored, once. Tills with the same sale must agree on its
 * state.
 */
function onceEach({ held }: Run): readonly HeldSale[] {
  const all = new Map<string, HeldSale>();
  for (const sale of held.flat()) {
    const other = all.get(sale.nonce) ?? sale;
    assert.deepEqual(other.state, { ...sale.state, ...seenBy(other) }, sale.nonce);
    all.set(sale.nonce, sale);
  }
  return [...all.values()];
}

/**
 * Returns `isSeen` for a bounced sale. Tills may differ in it, because only the till knows whether
 * its cashier has seen the bounce.
 */
function seenBy({ state }: HeldSale) {
  return state.is === 'bounced' ? { isSeen: state.isSeen } : {};
}

function sumOf(sales: readonly { readonly amount: number }[]): bigint {
  return sales.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

function checkList(sales: readonly HeldSale[], listed: readonly Listed[]): void {
  const byNonce = new Map(listed.map((one) => [one.nonce, one]));
  assert.equal(byNonce.size, listed.length, 'the API lists a sale twice');
  for (const { nonce, amount, state } of sales) {
    const one = byNonce.get(nonce);
    assert.ok(one !== undefined, `${nonce} is not listed`);
    assert.deepEqual(
      [state.is, 'id' in state && state.id, state.is === 'bounced' ? state.reason : null, amount],
      [one.status, one.id, one.bounce_reason, one.amount],
    );
    assert.equal(one.payment === null, one.status === 'bounced', nonce);
  }
  assert.equal(listed.length, sales.length, 'the API lists a sale that no till holds');
}

const USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
);

/**
 * Reads the settled sales from the chain: authorizations from the token, orders from the contract.
 */
async function readChain({ sandbox }: Run) {
  const { rpc_url, usdc, settlement } = sandbox.test;
  const chain = createPublicClient({ transport: http(rpc_url) });
  const [fromBlock, toBlock] = ['earliest', 'latest'] as const;
  const used = await chain.getLogs({ address: usdc as Hex, event: USED, fromBlock, toBlock });
  const logs = await chain.request({
    method: 'eth_getLogs',
    params: [{ address: settlement as Hex, fromBlock, toBlock }],
  });
  const contracts = { settlement: settlement as Hex, deployedAtBlock: 0n, formerSettlements: [] };
  const settled = readEvents(contracts, logs as RawLog[]).flatMap((one) =>
    one.event === 'PaymentSettled' ? [one] : [],
  );
  return {
    used: used.map(({ args }) => `${args.authorizer} ${args.nonce}`.toLowerCase()),
    settled,
  };
}

/** Returns the order ids under which the sales were settled, by the sales' nonces. */
async function ordersOf({ db }: Run): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ nonce: string; order_id: string }>(
    `select o.nonce, i.order_id from offline_payments o
       join payment_intents i on i.id = o.payment_intent_id
     where o.status = 'succeeded'`,
  );
  return new Map(rows.map(({ nonce, order_id }) => [nonce, order_id]));
}

async function checkChain(run: Run, sales: readonly HeldSale[]): Promise<void> {
  const { used, settled } = await readChain(run);
  const paid = sales.filter(({ state }) => state.is === 'succeeded');
  assert.deepEqual(
    used.toSorted(),
    paid.map(({ from, nonce }) => `${from} ${nonce}`.toLowerCase()).toSorted(),
    'the token took each authorization once, and no other one',
  );
  const orders = await ordersOf(run);
  const facts = settled.map(({ payer, orderId, amount }) =>
    `${payer} ${orderId} ${amount}`.toLowerCase(),
  );
  assert.deepEqual(
    facts.toSorted(),
    paid
      .map(({ from, nonce, amount }) => `${from} ${orders.get(nonce)} ${amount}`.toLowerCase())
      .toSorted(),
    'the contract settled each sale once, and nothing else',
  );
}

/** Compares the sums with the totals of the tills. */
async function checkTotals({ sandbox, terminals }: Run, sales: readonly HeldSale[]) {
  const figures = await Promise.all(
    terminals.map(async ({ deviceKey }) => {
      const till = caller(`${sandbox.base_url}/device/v1`, deviceKey);
      const { body } = await till.get('/totals');
      return body.offline as Readonly<Record<string, number>>;
    }),
  );
  const total = (name: string) => figures.reduce((sum, one) => sum + (one[name] ?? 0), 0);
  const paid = sales.filter(({ state }) => state.is === 'succeeded');
  const bounced = sales.filter(({ state }) => state.is === 'bounced');
  assert.deepEqual(
    [total('payments'), BigInt(total('sales')), total('bounced'), BigInt(total('bounced_amount'))],
    [paid.length, sumOf(paid), bounced.length, sumOf(bounced)],
  );
  return { paid, bounced };
}

/** Fails unless every stored sale was settled once or is listed as bounced. */
export async function judge(run: Run): Promise<{ paid: number; bounced: number; sum: bigint }> {
  const sales = onceEach(run);
  checkList(sales, await listSales(run));
  await checkChain(run, sales);
  const { paid, bounced } = await checkTotals(run, sales);
  assert.equal(paid.length + bounced.length, sales.length, 'a sale is undecided');
  return { paid: paid.length, bounced: bounced.length, sum: sumOf(paid) };
}
