import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  stringToHex,
  toHex,
} from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { type LinkBody, payByLink, readLink, sign, tokenOf } from '#testkit/apis/pay-links.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addIntent, addPayer } from '#testkit/fixtures/payments/store.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';

const ground = openForTests(startPayGround);

/** Computes the nonce like the pay page, from the data that the link's response contains. */
function nonceOf({ merchant, amount, number, order_id: orderId, salt }: LinkBody): Hex {
  const type = keccak256(
    toHex(
      'PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,' +
        'bytes8 orderId,bytes32 salt)',
    ),
  );
  return keccak256(
    encodeAbiParameters(
      ['bytes32', 'uint32', 'uint64', 'uint64', 'bytes8', 'bytes32'].map((one) => ({ type: one })),
      [type, merchant.number, amount, number, stringToHex(orderId, { size: 8 }), salt],
    ),
  );
}

describe('an unregistered wallet', () => {
  test('pays by the link of the terminal, without gas, allowance or policy', async () => {
    const account = await ground.bare();
    const { intentId, token } = await ground.newLink();
    const device = await ground.server.device().get(`/payment_intents/${intentId}`);
    assert.equal(device.body.payment_url, `http://127.0.0.1:4242/pay/${token}`);
    const link = await readLink(ground.server.pay, token, account.address);
    assert.equal(link.typed_data?.message.value, Number(PULLED));
    assert.equal(link.total_charged, AMOUNT + 7500 + 5000);
    assert.equal(link.typed_data?.message.to, ground.world.network.config.settlement);
    assert.equal(link.typed_data?.message.nonce, nonceOf(link));
    const paid = await ground.authorize(token, account.address, await sign(account, link));
    assert.equal(summary(paid), '200 succeeded');
    assert.equal('payment_url' in paid.body, false);
    assert.equal(await ground.world.network.usdcOf(account.address), 0n);
    const merchant = await ground.server.merchant();
    const [payment] = (await merchant.get(`/payments?payment_intent=${intentId}`)).body
      .data as Record<string, unknown>[];
    assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'authorization' });
    assert.equal(payment?.payer, account.address);
    assert.match(String(paid.body.receipt_url), /\/receipts\/[0-9A-Za-z]{22}$/);
    assert.equal(paid.body.receipt_url, payment?.receipt_url);
    const again = await ground.authorize(token, account.address, await sign(account, link));
    assert.deepEqual(again.body, paid.body, 'the response that it got');
    assert.equal((await ground.onTerminal(intentId)).payment_url, null);
    const closed = await readLink(ground.server.pay, token, account.address);
    assert.equal(closed.status, 'succeeded');
    assert.equal(closed.typed_data, null);
  });

  test('gets the first response again when it sends the same signature again', async () => {
    const account = await ground.bare(PULLED * 2n);
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, account.address);
    const signature = await sign(account, link);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ground.authorize(token, account.address, signature)),
    );
    for (const answer of answers) assert.deepEqual(answer.body, answers[0]?.body);
    assert.equal(summary(answers[0] as never), '200 succeeded');
    assert.deepEqual(
      (await ground.authorize(token, account.address, signature)).body,
      answers[0]?.body,
    );
    assert.equal(await ground.world.network.usdcOf(account.address), PULLED);
  });

  test('is declined before gas with too little USDC, and pays once it has more', async () => {
    const account = await ground.bare(PULLED - 1n);
    const { intentId, token } = await ground.newLink();
    const first = await payByLink(ground.server.pay, token, { account });
    assert.equal(summary(first), '200 insufficient_funds');
    assert.equal(await ground.requestsOf(intentId), 0);
    await ground.mint(account.address, 1n);
    assert.equal(summary(await payByLink(ground.server.pay, token, { account })), '200 succeeded');
  });

  test('is declined before gas on the blocklist of USDC', async () => {
    const account = await ground.bare();
    const { intentId, token } = await ground.newLink();
    await ground.blocklist(account.address);
    const answer = await payByLink(ground.server.pay, token, { account });
    assert.equal(summary(answer), '200 authorization_refused');
    assert.equal(await ground.requestsOf(intentId), 0);
  });

  test('is declined when the operator or the merchant has blocked its address', async () => {
    const account = await ground.bare();
    const { payer } = await addPayer(ground.store, { address: account.address });
    await ground.store.db.query('update payers set blocked_at = now() where id = $1', [payer.id]);
    const { token } = await ground.newLink();
    const stranger = await ground.bare();
    const link = await readLink(ground.server.pay, token, account.address);
    const wrong = await ground.authorize(token, account.address, await sign(stranger, link));
    assert.equal(
      summary(wrong),
      '400 signature_invalid',
      'no API key reveals the reason of the block',
    );
    assert.equal(
      summary(await payByLink(ground.server.pay, token, { account })),
      '200 risk_blocked',
    );
  });

  test('is not asked for confirmation by rules: its signature is the consent', async () => {
    const { accountId, livemode } = ground.store.merchant.tenant;
    await ground.store.db.query(
      `insert into risk_settings (account_id, livemode, high_amount_confirm_from, updated)
       values ($1, $2, 1, now()) on conflict (account_id, livemode)
       do update set high_amount_confirm_from = 1`,
      [accountId, livemode],
    );
    try {
      const account = await ground.bare();
      await addPayer(ground.store, { address: account.address });
      const { token } = await ground.newLink();
      assert.equal(
        summary(await payByLink(ground.server.pay, token, { account })),
        '200 succeeded',
      );
    } finally {
      await ground.store.db.query('delete from risk_settings where account_id = $1', [accountId]);
    }
  });
});

describe('a link', () => {
  test('with a made-up token is not found', async () => {
    for (const token of [
      '',
      'x',
      '0'.repeat(22),
      tokenOf(await addIntent(ground.store), false).slice(1),
    ]) {
      assert.equal((await ground.server.pay.get(`/${token}?from=0x${'1'.repeat(40)}`)).status, 404);
    }
  });

  test('accepts one authorization at a time', async () => {
    const wallets = [await ground.bare(), await ground.bare(), await ground.bare()];
    const { token } = await ground.newLink();
    const answers = await Promise.all(
      wallets.map((account) => payByLink(ground.server.pay, token, { account })),
    );
    const told = answers.map(summary).sort();
    const refused = '409 payment_intent_unexpected_state';
    assert.deepEqual(told, ['200 succeeded', refused, refused]);
    const left = await Promise.all(
      wallets.map(({ address }) => ground.world.network.usdcOf(address)),
    );
    assert.equal(
      left.reduce((sum, one) => sum + one),
      PULLED * 2n,
    );
  });

  test("keeps a customer's signature valid while empty wallets are declined", async () => {
    const customer = await ground.bare();
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, customer.address);
    for (let strangers = 0; strangers < 6; strangers++) {
      const account = await ground.bare(0n);
      const declined = await payByLink(ground.server.pay, token, { account });
      assert.equal(summary(declined), '200 insufficient_funds');
    }
    const shown = await readLink(ground.server.pay, token, customer.address);
    assert.deepEqual(shown.typed_data, link.typed_data, 'nothing changes for this wallet');
    const paid = await ground.authorize(token, customer.address, await sign(customer, link));
    assert.equal(summary(paid), '200 succeeded');
  });

  test('asks a declined wallet for a different signature each time', async () => {
    const account = await ground.bare(0n);
    const { token } = await ground.newLink();
    const salts = new Set<Hex>();
    for (let tries = 0; tries < 3; tries++) {
      salts.add((await readLink(ground.server.pay, token, account.address)).salt);
      const declined = await payByLink(ground.server.pay, token, { account });
      assert.equal(summary(declined), '200 insufficient_funds');
    }
    assert.equal(salts.size, 3);
  });

  test('that is closed shows its status and accepts no signature', async () => {
    const account = await ground.bare();
    const { intentId, token } = await ground.newLink();
    const signature = await sign(
      account,
      await readLink(ground.server.pay, token, account.address),
    );
    await ground.server.device().post(`/payment_intents/${intentId}/cancel`, {});
    const closed = await readLink(ground.server.pay, token, account.address);
    assert.deepEqual([closed.status, closed.typed_data], ['canceled', null]);
    const answer = await ground.authorize(token, account.address, signature);
    assert.equal(summary(answer), '409 payment_intent_unexpected_state');
    assert.equal((await ground.onTerminal(intentId)).payment_url, null);
  });

  test('of a deactivated terminal accepts no signature', async () => {
    const account = await ground.bare();
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, account.address);
    const signature = await sign(account, link);
    const set = (status: string) =>
      ground.store.db.query('update terminals set status = $2 where id = $1', [
        ground.store.terminalId,
        status,
      ]);
    await set('inactive');
    try {
      assert.equal(
        summary(await ground.authorize(token, account.address, signature)),
        '409 terminal_inactive',
      );
      assert.equal((await readLink(ground.server.pay, token, account.address)).typed_data, null);
    } finally {
      await set('active');
    }
  });

  test('is never shown by the merchant API', async () => {
    const { intentId } = await ground.newLink();
    const merchant = await ground.server.merchant();
    const shown = JSON.stringify((await merchant.get(`/payment_intents/${intentId}`)).body);
    assert.doesNotMatch(shown, /payment_url|\/pay\//);
    const events = JSON.stringify((await merchant.get('/events')).body);
    assert.doesNotMatch(events, /payment_url|\/pay\//);
  });
});

describe('a tip', () => {
  test('is part of the signed data, of the fees and of the payment', async () => {
    const account = await ground.bare(PULLED * 2n);
    const intentId = await addIntent(ground.store, {
      amount: AMOUNT,
      tipping: { percentages: [10] },
    });
    const token = tokenOf(intentId);
    const path = `/${token}?from=${account.address}`;
    const { body } = await ground.server.pay.get(`${path}&tip_amount=250000`);
    const link = body as unknown as LinkBody;
    assert.deepEqual(body.tipping, { percentages: [10] });
    assert.equal(link.total_charged, 2_750_000 + 8_250 + 5_500);
    assert.equal(link.typed_data?.message.nonce, nonceOf({ ...link, amount: 2_750_000 }));
    const [from, signature] = [account.address, await sign(account, link)];
    const pay = (tip_amount: number) =>
      ground.server.pay.post(`/${token}/authorization`, { from, signature, tip_amount });
    assert.equal(summary(await pay(0)), '400 signature_invalid');
    assert.equal(summary(await pay(AMOUNT + 1)), '400 parameter_invalid');
    const paid = await pay(250_000);
    assert.equal(summary(paid), '200 succeeded');
    assert.deepEqual([paid.body.amount, paid.body.tip], [AMOUNT, 250_000]);
    assert.equal(await ground.world.network.usdcOf(from), PULLED * 2n - 2_762_375n);
  });

  test('is allowed only if the intent takes tips', async () => {
    const { token } = await ground.newLink();
    const { status } = await ground.server.pay.get(`/${token}?tip_amount=0`);
    assert.equal(status, 400);
  });
});

describe('the hourly ceiling', () => {
  const reached = async (ways: number) => {
    const lower = { abi: settlementAbi, functionName: 'lowerCeiling' } as const;
    const ceiling = { abi: settlementLensAbi, functionName: 'ceiling' } as const;
    const { network } = ground.world;
    const { settlement } = network.config;
    const settled = await network.rpc.call('eth_call', [
      { to: lensOf(settlement), data: encodeFunctionData(ceiling) },
      'latest',
    ]);
    const [, soFar] = decodeFunctionResult({ ...ceiling, data: settled as Hex });
    const args = [Number((soFar + BigInt(AMOUNT * ways)) / 1_000_000n) + 1] as const;
    await network.send(network.guardian, settlement, encodeFunctionData({ ...lower, args }));
  };

  test('that a payment would exceed is an immediate 503 that names the next hour', async () => {
    await reached(1);
    const one = await ground.newLink();
    const first = await payByLink(ground.server.pay, one.token, { account: await ground.bare() });
    assert.equal(summary(first), '200 succeeded');
    const two = await ground.newLink();
    const full = await payByLink(ground.server.pay, two.token, { account: await ground.bare() });
    assert.equal(summary(full), '503 service_unavailable');
    assert.match(JSON.stringify(full.body), /next hour begins at 20\d\d-.*T\d\d:00:00\.000Z/);
    assert.equal(await ground.requestsOf(two.intentId), 0);
  });
});
