import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MovingShop, openMovingShop, SALE, until } from '#testkit/apis/moving-shop.ts';
import type { OutsideContract } from '#testkit/apis/outside-chain.ts';
import { spawnMain } from '#testkit/network/spawn-network.ts';

/**
 * Rehearses "Moving to a new contract" of docs/operate.md: in one installation, merchant and payer
 * move from the first contract to the second while both are in use.
 */

const CHAIN_ID = 41_200;

let shop: MovingShop;
let second: OutsideContract;
let pass = '';
/** An intent from before the move. */
let open = '';
let other = '';
const paid: string[] = [];

before(async () => {
  shop = await openMovingShop(CHAIN_ID);
  await shop.start(shop.first);
});

after(() => shop?.close());

const modeOf = (path: string) => `/accounts/${shop.network.sandbox.account}/test${path}`;

/** Goes live or moves, and waits until the chain has confirmed it. */
async function goLive(account?: string): Promise<void> {
  await shop.askToGoLive(account);
  await shop.untilLive(account);
}

test('before: a payer of the first contract pays there', async () => {
  pass = await shop.enrol();
  paid.push(
    await shop.pay(await shop.createSale(), pass),
    await shop.pay(await shop.createSale(), pass),
  );
  assert.equal(await shop.available(), 2 * SALE);
  open = await shop.createSale();
  // Another account of the owner, which goes live on the first contract like every merchant.
  other = String((await shop.owner.post('/accounts', { name: 'Second Shop' })).body.id);
  await goLive(other);
});

test('settings that leave out a contract with payments do not start', async () => {
  second = await shop.chain.deploySettlement(shop.first);
  await shop.network.stop();
  const { CHAIN_TESTNET_PREVIOUS_CONTRACTS: _, ...forgotten } = second.env;
  const { child, logs } = spawnMain({ dataDir: shop.folder, env: forgotten });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.notEqual(code, 0);
  assert.match(logs(), new RegExp(`do not list ${shop.first.settlement}`, 'i'));
});

test('1. the service knows both: a merchant that has not moved is paid at the first', async () => {
  await shop.start(second);
  const payment = await shop.pay(await shop.createSale(), pass);
  paid.push(payment);
  assert.equal(await shop.settledAt(payment), shop.first.settlement.toLowerCase());
});

test('2. the merchant agrees to the second, with the same account and keys', async () => {
  const reply = await shop.owner.get(modeOf('/go_live'));
  const next = String(reply.body.next_contract);
  assert.equal(next.toLowerCase(), second.settlement.toLowerCase());
  await shop.addFactor();
  await goLive();
  await goLive(other);
  assert.equal((await shop.owner.post(modeOf('/go_live/test_wallet'))).status, 409, 'once');
});

test('3. a sale from before the move is paid only at the first contract', async () => {
  const payment = await shop.pay(open, pass);
  paid.push(payment);
  assert.equal(await shop.settledAt(payment), shop.first.settlement.toLowerCase());
});

test('4. the payer agrees at the next tap, and pays with the same pass', async () => {
  const sale = await shop.createSale();
  const declined = await shop.tap(sale, pass);
  assert.equal(declined.status, 'requires_payment_method');
  const error = declined.last_payment_error as { decline_code: string };
  assert.equal(error.decline_code, 'approval_insufficient');
  await shop.enrol();
  const payment = await shop.pay(sale, pass);
  paid.push(payment);
  assert.equal(await shop.settledAt(payment), second.settlement.toLowerCase());
  assert.equal(await shop.available(), 5 * SALE, 'both together');
});

test('5. a payment is refunded out of the contract that settled it', async () => {
  const [payersBefore, secondBefore] = [
    await shop.usdcOf(shop.payer.address),
    await shop.usdcOf(second.settlement),
  ];
  assert.equal((await shop.refund(paid[0])).status, 'succeeded');
  assert.equal(await shop.usdcOf(shop.payer.address), payersBefore + BigInt(SALE));
  assert.equal(await shop.usdcOf(second.settlement), secondBefore, 'not out of the other one');
  assert.equal((await shop.refund(paid[4])).status, 'succeeded');
  assert.equal(await shop.usdcOf(second.settlement), secondBefore - BigInt(SALE));
  assert.equal(await shop.available(), 3 * SALE);
});

test('6. withdrawals empty the first contract; later refunds from it fail', async () => {
  const { body: wallet } = await shop.owner.get(modeOf('/settlement_wallet'));
  const [former] = wallet.former_contracts as { settlement: string; merchant_number: number }[];
  assert.equal(former?.settlement.toLowerCase(), shop.first.settlement.toLowerCase());
  const key = { 'Idempotency-Key': 'all that is left at the first' };
  const reply = await shop.owner.post(modeOf('/withdrawals'), { amount: 3 * SALE }, key);
  assert.equal(reply.status, 201, reply.text);
  await until('the withdrawal', async () => {
    const [row] = (await shop.owner.get(modeOf('/withdrawals'))).body.data as { status: string }[];
    return row?.status === 'succeeded' ? true : null;
  });
  assert.equal(await shop.available(), 0);
  const fees = 4n * (7_500n + 3_750n);
  assert.equal(await shop.usdcOf(shop.first.settlement), fees, 'but for the fees');
  const late = await shop.refund(paid[1]);
  assert.deepEqual([late.status, late.failure_code], ['failed', 'insufficient_balance']);
});

test('the ledger agrees with both contracts, and there is no alarm', async () => {
  const staff = await shop.staff();
  assert.deepEqual((await staff.get('/alarms')).body.data, []);
  assert.deepEqual((await staff.get('/reconciliation')).body.differences, []);
  const { body } = await staff.get('/contracts');
  const testnet = (body.data as { network: string; former: boolean; accounts: number }[]).filter(
    (one) => one.network === 'testnet',
  );
  assert.deepEqual(
    testnet.map(({ former, accounts }) => [former, accounts]),
    [
      [false, 2],
      [true, 0],
    ],
  );
  const solvency = await (await fetch(`${shop.network.sandbox.web_url}/solvency.json`)).json();
  const sums = (solvency as { networks: { network: string; surplus: number }[] }).networks;
  assert.deepEqual(
    sums.filter((one) => one.network === 'testnet').map(({ surplus }) => surplus),
    [0, 0],
  );
});
