import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { type LinkBody, payByLink, readLink, sign, tokenOf } from '#testkit/apis/pay-links.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addIntent, addTerminal } from '#testkit/fixtures/payments/store.ts';

let till: Caller;

const ground = openForTests(startPayGround, async () => {
  till = ground.server.device();
});

const pathOf = (intentId: string) => `/payment_intents/${intentId}/authorization`;

/**
 * Simulates a chip that is held to the till: reads the data to sign, signs it and submits the
 * signature.
 */
async function hold(chip: PrivateKeyAccount, intentId: string, tip?: number): Promise<Reply> {
  const tipped = tip === undefined ? '' : `&tip_amount=${tip}`;
  const told = await till.get(`${pathOf(intentId)}?from=${chip.address}${tipped}`);
  assert.equal(told.status, 200, JSON.stringify(told.body));
  const signature = await sign(chip, told.body as unknown as LinkBody);
  const body = { from: chip.address, signature };
  return till.post(pathOf(intentId), tip === undefined ? body : { ...body, tip_amount: tip });
}

/** Another person's wallet app. */
const openApp = async (): Promise<Caller> => (await ground.server.signIn()).me;

async function register(me: Caller, chip: PrivateKeyAccount, more: object = {}): Promise<Reply> {
  const { body } = await me.get(`/chips/proof?address=${chip.address}`);
  const signature = await chip.signMessage({ message: String(body.message) });
  return me.post('/chips', { address: chip.address, signature, ...more });
}

test('a chip pays the amount that the till shows, with a tip; the method is `chip`', async () => {
  const chip = await ground.bare(PULLED * 2n);
  const tipping = { percentages: [10] };
  const intentId = await addIntent(ground.store, { amount: AMOUNT, tipping });
  const paid = await hold(chip, intentId, 250_000);
  assert.equal(summary(paid), '200 succeeded');
  assert.equal(paid.body.payment_url, null);
  assert.notEqual(paid.body.tapped_at, null);
  const merchant = await ground.server.merchant();
  const [payment] = (await merchant.get(`/payments?payment_intent=${intentId}`)).body
    .data as Record<string, unknown>[];
  assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'chip' });
  assert.deepEqual([payment?.amount, payment?.tip], [2_750_000, 250_000]);
});

test('a till shows the balance of the chip held to it', async () => {
  const chip = await ground.bare(3_100_000n);
  const path = pathOf(await addIntent(ground.store));
  const told = await till.get(`${path}?from=${chip.address}`);
  assert.equal(told.body.balance, 3_100_000);
  const unknown = await till.get(`${path}?from=${newWallet().address}`);
  assert.equal(unknown.body.balance, 0);
});

test('a signature that is altered, late, or for another sale or till never charges', async () => {
  const chip = await ground.bare(PULLED * 2n);
  const [first, second] = [await addIntent(ground.store), await addIntent(ground.store)];
  const told = await till.get(`${pathOf(first)}?from=${chip.address}`);
  const signature = await sign(chip, told.body as unknown as LinkBody);
  const body = { from: chip.address, signature };
  assert.equal(summary(await till.post(pathOf(second), body)), '400 signature_invalid');
  const digit = signature[20] === '0' ? '1' : '0';
  const altered = `${signature.slice(0, 20)}${digit}${signature.slice(21)}`;
  const wrong = await till.post(pathOf(first), { ...body, signature: altered });
  assert.equal(summary(wrong), '400 signature_invalid');
  const { db, clock, merchant } = ground.store;
  const other = ground.server.device((await addTerminal(db, merchant, clock.now())).deviceKey);
  assert.equal((await other.post(pathOf(first), body)).status, 404);
  assert.equal((await other.get(`${pathOf(first)}?from=${chip.address}`)).status, 404);
  assert.equal(summary(await till.post(pathOf(first), body)), '200 succeeded');
  assert.deepEqual(
    (await till.post(pathOf(first), body)).body,
    (await till.post(pathOf(first), body)).body,
  );
  assert.equal(summary(await till.post(pathOf(second), body)), '400 signature_invalid');
  assert.equal(await ground.world.network.usdcOf(chip.address), PULLED);
});

test('limit and block of a registered chip apply on every route', async () => {
  const [me, stranger] = [await openApp(), await openApp()];
  const chip = await ground.bare(PULLED * 2n);
  const made = await register(me, chip, { label: 'Ring', per_payment_limit: AMOUNT - 1 });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const again = await register(stranger, chip);
  assert.equal(
    errorCodeOf(again.body),
    'unexpected_state',
    'the thief of a chip cannot raise its limit',
  );
  const intentId = await addIntent(ground.store, { amount: AMOUNT });
  assert.equal(summary(await hold(chip, intentId)), '200 limit_exceeded');
  const byLink = await payByLink(ground.server.pay, tokenOf(intentId), { account: chip });
  assert.equal(summary(byLink), '200 limit_exceeded');
  const path = `/chips/${chip.address}`;
  assert.equal((await stranger.patch(path, { blocked: false })).status, 404);
  assert.equal((await me.patch(path, { per_payment_limit: null })).status, 200);
  const blocked = await me.patch(`/chips/${made.body.id}`, { blocked: true });
  assert.deepEqual([blocked.body.blocked, blocked.body.label], [true, 'Ring']);
  assert.equal(summary(await hold(chip, intentId)), '200 risk_blocked');
  const [listed] = (await me.get('/chips')).body.data as Record<string, unknown>[];
  assert.deepEqual([listed?.address, listed?.blocked], [chip.address, true]);
  assert.equal((await me.send('DELETE', path)).body.deleted, true);
  assert.equal(summary(await hold(chip, intentId)), '200 succeeded');
});

test('a chip is registered by its own signature for this wallet, and by no other', async () => {
  const [me, other] = [await openApp(), await openApp()];
  const [chip, another] = [newWallet(), newWallet()];
  const { body } = await other.get(`/chips/proof?address=${chip.address}`);
  const forOther = await chip.signMessage({ message: String(body.message) });
  const mine = String((await me.get(`/chips/proof?address=${chip.address}`)).body.message);
  const byAnother = await another.signMessage({ message: mine });
  for (const signature of [forOther, byAnother]) {
    const answer = await me.post('/chips', { address: chip.address, signature });
    assert.equal(errorCodeOf(answer.body), 'signature_invalid');
  }
  assert.equal((await me.get('/chips')).body.has_more, false);
});

test("a till with a revoked key cannot submit a chip's signature", async () => {
  const chip = await ground.bare();
  const { db, clock, merchant } = ground.store;
  const counter = { merchant, ...(await addTerminal(db, merchant, clock.now())) };
  const own = ground.server.device(counter.deviceKey);
  const created = await own.post('/payment_intents', { amount: AMOUNT }, 'chip till');
  const id = String(created.body.id);
  const told = await own.get(`${pathOf(id)}?from=${chip.address}`);
  const signature = await sign(chip, told.body as unknown as LinkBody);
  await db.query('update device_keys set revoked_at = $2 where terminal_id = $1', [
    counter.terminalId,
    clock.now(),
  ]);
  const late = await own.post(pathOf(id), { from: chip.address, signature });
  assert.equal(late.status, 401);
  assert.equal(await ground.world.network.usdcOf(chip.address), PULLED);
  assert.equal((await readLink(ground.server.pay, tokenOf(id))).status, 'requires_payment_method');
});
