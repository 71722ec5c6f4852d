import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { encodeFunctionData, keccak256, parseSignature, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { judgeOnChain } from '#payments/offline/decide-bounce.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import {
  forwardSales,
  type Forwarded as Item,
  forwardedIn as itemsOf,
  type KeptSale,
  type OfflineWish,
  RATES,
  setLimits,
  settleForwarded,
  signOffline,
  WIDE_LIMITS,
} from '#testkit/apis/offline-sales.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { delegate } from '#testkit/apis/pay-links.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addTerminal } from '#testkit/fixtures/payments/store.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

let till: Caller;
let merchant: Caller;

const ground = openForTests(startPayGround, async () => {
  till = ground.server.device();
  merchant = await ground.server.merchant();
});

beforeEach(() => setLimits(ground));

const forward = (sales: readonly object[], by = till) => forwardSales(by, sales);
const settled = (sales: readonly object[], by = till) => settleForwarded(by, sales);

const said = (item: Item | undefined) => String(item?.code ?? item?.bounce_reason ?? item?.status);

async function signed(wish: OfflineWish = {}, usdc = PULLED): Promise<KeptSale> {
  return signOffline(ground, await ground.bare(usdc), wish);
}

const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

const newTill = async (): Promise<{ readonly id: string; readonly by: Caller }> => {
  const { db, clock, merchant: owner } = ground.store;
  const made = await addTerminal(db, owner, clock.now());
  await setLimits(ground, WIDE_LIMITS, made.terminalId);
  return { id: made.terminalId, by: ground.server.device(made.deviceKey) };
};

test('a forwarded sale settles, and every reader shows the same object', async () => {
  const wallet = await ground.bare(PULLED);
  const sale = await signOffline(ground, wallet);
  const [first] = itemsOf(await forward([{ ...sale, description: 'Two teas' }]));
  assert.equal(first?.status, 'processing');
  assert.deepEqual([first.bounce_reason, first.payment], [null, null]);
  const [item] = await settled([sale]);
  assert.deepEqual({ ...item, status: 'processing', payment: null }, first);
  assert.equal(item?.status, 'succeeded');
  const { body: read } = await merchant.get(`/offline_payments/${item.id}`);
  assert.deepEqual(read, item);
  const { body: list } = await merchant.get('/offline_payments?status=succeeded&limit=1');
  assert.deepEqual((list.data as Item[])[0], item);
  const { body: intent } = await merchant.get(`/payment_intents/${item.payment_intent}`);
  assert.equal(intent.status, 'succeeded');
  assert.deepEqual(intent.offline, { id: item.id, accepted_at: sale.accepted_at });
  assert.deepEqual(
    [intent.source, intent.tip, intent.description, intent.payment],
    ['terminal', 0, 'Two teas', item.payment],
  );
  const { body: payment } = await merchant.get(`/payments/${item.payment}`);
  assert.deepEqual(payment.payment_method, { type: 'wallet', credential: 'authorization' });
  assert.equal(await ground.world.network.usdcOf(wallet.address), 0n);
  const { body: events } = await merchant.get('/events?limit=100');
  const of = (events.data as { type: string; data: { object: Item } }[]).filter(
    ({ data }) => data.object.id === item.id,
  );
  assert.deepEqual(
    of.map(({ type, data }) => [type, data.object]),
    [['offline_payment.succeeded', item]],
  );
});

test('forwarded twice, by two tills and in two spellings, a sale is one payment', async () => {
  const wallet = await ground.bare(PULLED * 3n);
  const sale = await signOffline(ground, wallet);
  const { authorization } = sale;
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;
  const spelled = {
    ...sale,
    salt: upper(sale.salt),
    authorization: {
      ...authorization,
      nonce: upper(authorization.nonce),
      from: authorization.from.toLowerCase(),
      signature: upper(authorization.signature),
    },
  };
  const other = await newTill();
  const replies = await Promise.all([
    forward([sale, spelled]),
    forward([spelled], other.by),
    forward([sale], other.by),
    forward([sale]),
  ]);
  const ids = replies.flatMap(itemsOf).map(({ id }) => id);
  assert.equal(new Set(ids).size, 1, String(ids));
  assert.equal(ids.length, 5);
  const later = await signOffline(ground, wallet, {
    salt: sale.salt as `0x${string}`,
    validBefore: secondsFromNow(3_600),
  });
  const [item, again] = await settled([sale, { ...later, description: 'another end' }]);
  assert.deepEqual(again, item);
  assert.equal(item?.status, 'succeeded');
  assert.equal(await ground.requestsOf(String(item.payment_intent)), 1);
  assert.equal(await ground.world.network.usdcOf(wallet.address), PULLED * 2n);
});

test('the same nonce from two wallets makes two sales', async () => {
  const salt = keccak256(toHex('one salt'));
  const [one, two] = [await signed({ salt }), await signed({ salt })];
  assert.equal(one.authorization.nonce, two.authorization.nonce);
  const items = await settled([one, two]);
  assert.deepEqual(items.map(said), ['succeeded', 'succeeded']);
  assert.notEqual(items[0]?.payment, items[1]?.payment);
});

test('each record that cannot pay bounces for its own reason, and holds up no other', async () => {
  const blockedByOperator = await ground.bare(PULLED);
  const blockedByMerchant = await ground.bare(PULLED);
  const { db, merchant: owner } = ground.store;
  const sales = [
    await signed({}, PULLED - 1n),
    await signed({ validBefore: secondsFromNow(-5) }),
    await signed({ validBefore: secondsFromNow(72 * 3600 + 60) }),
    await signed({ validAfter: secondsFromNow(600) }),
    await signed({ value: Number(PULLED) - 1 }),
    await signOffline(ground, blockedByOperator),
    await signOffline(ground, blockedByMerchant),
    await signed({ amount: WIDE_LIMITS.per_payment + 1 }, PULLED * 1_000n),
    await signed({ validAfter: secondsFromNow(-60) }),
  ];
  await db.query(
    `insert into payers (id, livemode, address, created, blocked_at)
     values ('pyr_blocked', false, $1, now(), now())`,
    [blockedByOperator.address],
  );
  await db.query(
    `insert into risk_blocked_payers (account_id, livemode, address, created)
     values ($1, false, $2, now())`,
    [owner.tenant.accountId, blockedByMerchant.address],
  );
  const items = await settled(sales);
  assert.deepEqual(items.map(said), [
    'insufficient_funds',
    'authorization_expired',
    'authorization_invalid',
    'authorization_invalid',
    'rates_changed',
    'blocked',
    'blocked',
    'limit_exceeded',
    'succeeded',
  ]);
  for (const { status, payment, payment_intent: intent } of items.slice(0, -1)) {
    assert.deepEqual([status, payment, intent], ['bounced', null, null]);
  }
  assert.deepEqual(await settled(sales), items, 'a bounce is for good');
  const { body } = await till.get('/terminal');
  const { blocked } = body.offline_terms as { blocked: string[] };
  assert.ok(blocked.includes(blockedByOperator.address));
});

test('an authorization that was canceled on the token bounces as used', async () => {
  const wallet = await ground.bare(PULLED);
  const sale = await signOffline(ground, wallet);
  const { admin, config, send } = ground.world.network;
  const nonce = sale.authorization.nonce as `0x${string}`;
  const signature = await wallet.signTypedData({
    domain: { ...config.usdcDomain, chainId: config.chainId, verifyingContract: config.usdc },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  });
  const { r, s, yParity } = parseSignature(signature);
  const call = { abi: testUsdcAbi, functionName: 'cancelAuthorization' } as const;
  const args = [wallet.address, nonce, 27 + yParity, r, s] as const;
  await send(admin, config.usdc, encodeFunctionData({ ...call, args }));
  assert.deepEqual((await settled([sale])).map(said), ['authorization_used']);
});

test('two sales of a wallet that can pay one: one settles, the other bounces later', async () => {
  const wallet = await ground.bare(PULLED);
  const sales = [await signOffline(ground, wallet), await signOffline(ground, wallet)];
  const items = await settled(sales);
  assert.deepEqual(items.map(said).sort(), ['insufficient_funds', 'succeeded']);
  const bounced = items.find(({ status }) => status === 'bounced');
  const { body } = await merchant.get(`/payment_intents/${bounced?.payment_intent}`);
  assert.equal(body.status, 'canceled');
  assert.deepEqual(body.offline, {
    id: bounced?.id,
    accepted_at: sales[items.indexOf(bounced as Item)]?.accepted_at,
  });
  assert.deepEqual(await settled(sales), items);
});

async function pauseToken(paused: boolean): Promise<void> {
  const { admin, config, send } = ground.world.network;
  const args = [paused] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'setPaused', args });
  await send(admin, config.usdc, data);
}

test('while the token is paused nothing bounces until its authorization has expired', async () => {
  const sale = await signed();
  const short = await signed({ validBefore: secondsFromNow(4) });
  await pauseToken(true);
  try {
    assert.deepEqual(itemsOf(await forward([sale, short])).map(said), ['processing', 'processing']);
    await waitUntil(async () => said(itemsOf(await forward([short]))[0]) !== 'processing', 30_000);
    assert.deepEqual(itemsOf(await forward([sale, short])).map(said), [
      'processing',
      'authorization_expired',
    ]);
  } finally {
    await pauseToken(false);
  }
  assert.deepEqual((await settled([sale])).map(said), ['succeeded']);
});

test('a wallet that delegated after it signed is tried until its authorization ends', async () => {
  const { network } = ground.world;
  const [stays, returns] = [await ground.bare(PULLED), await ground.bare(PULLED)];
  const refused = await signOffline(ground, stays, { validBefore: secondsFromNow(8) });
  const paid = await signOffline(ground, returns);
  // The token has no ERC-1271, so it confirms no signature.
  for (const { address } of [stays, returns]) {
    await delegate(network, address, { to: network.config.usdc });
  }
  const both = async () => itemsOf(await forward([refused, paid])).map(said);
  assert.deepEqual(await both(), ['processing', 'processing']);
  assert.ok(await waitUntil(async () => (await both())[0] !== 'processing', 30_000));
  assert.ok(Number(refused.authorization.valid_before) <= secondsFromNow(0));
  assert.deepEqual(await both(), ['wallet_refuses', 'processing']);
  await network.rpc.call('anvil_setCode', [returns.address, '0x']);
  assert.deepEqual((await settled([paid])).map(said), ['succeeded']);
});

test('a delegated wallet whose sale ran out for another reason has expired', async () => {
  const { network } = ground.world;
  const wallet = await ground.bare(PULLED);
  const sale = await signOffline(ground, wallet, { validBefore: secondsFromNow(6) });
  await pauseToken(true);
  try {
    assert.deepEqual(itemsOf(await forward([sale])).map(said), ['processing']);
    await delegate(network, wallet.address, { key: wallet.address });
    const ended = async () => said(itemsOf(await forward([sale]))[0]) !== 'processing';
    assert.ok(await waitUntil(ended, 30_000));
  } finally {
    await pauseToken(false);
  }
  assert.deepEqual(itemsOf(await forward([sale])).map(said), ['authorization_expired']);
});

test('a sale that cannot be decided holds up no other', async () => {
  const { db } = ground.store;
  const [broken, sound] = [await signed(), await signed()];
  await pauseToken(true);
  const [first] = itemsOf(await forward([broken]));
  itemsOf(await forward([sound]));
  await db.query(
    `update payment_intents set attempt = attempt #- '{credential,signature}' where id = $1`,
    [first?.payment_intent],
  );
  await pauseToken(false);
  assert.deepEqual((await settled([sound])).map(said), ['succeeded']);
  assert.deepEqual(itemsOf(await forward([broken])).map(said), ['processing']);
});

test('the same nonce at another account does not make this account’s sale fail', async () => {
  const sale = await signed();
  const [item] = await settled([sale]);
  // Two merchants on different contract versions can have the same number.
  await ground.store.db.query('update offline_payments set account_id = $2 where id = $1', [
    item?.id,
    'acct_of_another_contract',
  ]);
  const [again] = itemsOf(await forward([sale]));
  assert.notEqual(again?.id, item?.id);
  assert.equal(said(again), 'authorization_used');
});

test('a record that does not verify gets an error in its place and reserves no nonce', async () => {
  const wallet = await ground.bare(PULLED);
  const sale = await signOffline(ground, wallet);
  const other = await signOffline(ground, newWallet());
  const wrong = [
    { ...sale, authorization: { ...sale.authorization, signature: other.authorization.signature } },
    { ...sale, amount: sale.amount + 1 },
    { ...sale, authorization: { ...sale.authorization, value: sale.authorization.value + 1 } },
    { ...sale, salt: other.salt },
  ];
  const items = itemsOf(await forward([...wrong, sale]));
  assert.deepEqual(items.slice(0, -1).map(said), [
    'signature_invalid',
    'parameter_invalid',
    'signature_invalid',
    'parameter_invalid',
  ]);
  for (const item of items.slice(0, -1)) {
    assert.deepEqual(Object.keys(item).sort(), ['code', 'message', 'nonce', 'object']);
    assert.deepEqual([item.object, item.nonce], ['error', sale.authorization.nonce]);
  }
  assert.equal(said((await settled([sale]))[0]), 'succeeded');
});

test('a malformed request is refused as a whole, and the refusal names the record', async () => {
  const sale = await signed();
  const { authorization } = sale;
  const cases: [object, string, string][] = [
    [{ ...sale, tip_amount: 1 }, 'parameter_unknown', 'payments[1].tip_amount'],
    [{ ...sale, order_id: 'x' }, 'parameter_unknown', 'payments[1].order_id'],
    [{ ...sale, amount: 0 }, 'parameter_invalid', 'payments[1].amount'],
    [{ ...sale, amount: '1' }, 'parameter_invalid', 'payments[1].amount'],
    [{ ...sale, salt: '0x12' }, 'parameter_invalid', 'payments[1].salt'],
    [{ ...sale, accepted_at: 'today' }, 'parameter_invalid', 'payments[1].accepted_at'],
    // In UTC, these times are before the year 1 and after 9999, which the database cannot return.
    ...['0000-06-01T00:00:00Z', '9999-12-31T23:59:59-01:00'].map(
      (accepted_at): [object, string, string] => [
        { ...sale, accepted_at },
        'parameter_invalid',
        'payments[1].accepted_at',
      ],
    ),
    [{ ...sale, authorization: {} }, 'parameter_missing', 'payments[1].authorization.from'],
    [
      { ...sale, authorization: { ...authorization, nonce: '0x' } },
      'parameter_invalid',
      'payments[1].authorization.nonce',
    ],
    [
      { ...sale, line_items: [{ name: 'Tea', quantity: 1, unit_amount: 1, tax_rate: 700 }] },
      'parameter_invalid',
      'payments[1].line_items',
    ],
  ];
  for (const [record, code, param] of cases) {
    const { status, body } = await forward([sale, record]);
    const { error } = body as { error: { code: string; param: string } };
    assert.deepEqual([status, error.code, error.param], [400, code, param]);
  }
  assert.equal((await forward([])).status, 400);
  assert.equal((await forward(Array.from({ length: 101 }, () => sale))).status, 400);
  const { body } = await merchant.get('/offline_payments');
  const nonces = (body.data as Item[]).map(({ nonce }) => nonce);
  assert.ok(!nonces.includes(authorization.nonce), 'no record of such a request is taken');
});

test('the limits of a till count its undecided sales, in the order of the list', async () => {
  const { id, by } = await newTill();
  const limits = { ...WIDE_LIMITS, count: 2, total: AMOUNT * 2 };
  await setLimits(ground, limits, id);
  const sales = [await signed(), await signed(), await signed()];
  const items = itemsOf(await forward([sales[0], sales[0], sales[1], sales[2]] as object[], by));
  assert.deepEqual(items.map(said), ['processing', 'processing', 'processing', 'limit_exceeded']);
  await settled(sales, by);
  const [next] = await settled([await signed()], by);
  assert.equal(said(next), 'succeeded', 'settled sales do not count any more');
  await setLimits(ground, { ...WIDE_LIMITS, per_card_per_day: AMOUNT * 2 }, id);
  const wallet = await ground.bare(PULLED * 4n);
  const day = 86_400_000;
  const today = await Promise.all([1, 2, 3].map(() => signOffline(ground, wallet)));
  const yesterday = await signOffline(ground, wallet, { acceptedAt: new Date(Date.now() - day) });
  const ofCard = await settled([...today, yesterday], by);
  assert.deepEqual(ofCard.map(said), ['succeeded', 'succeeded', 'limit_exceeded', 'succeeded']);
});

test('a till without limits, or in a network that forbids it, forwards nothing', async () => {
  const sale = await signed();
  await setLimits(ground, null);
  const off = await forward([sale]);
  assert.deepEqual([off.status, errorCodeOf(off.body)], [403, 'offline_not_allowed']);
  const { body: device } = await till.get('/terminal');
  assert.deepEqual([device.offline, device.offline_terms], [null, null]);
  await setLimits(ground);
  const { db } = ground.store;
  await db.query('insert into offline_rules (livemode, allowed) values (false, false)');
  const forbidden = await forward([sale]);
  assert.deepEqual([forbidden.status, errorCodeOf(forbidden.body)], [403, 'offline_not_allowed']);
  assert.equal((await till.get('/terminal')).body.offline, null);
  await db.query('update offline_rules set allowed = true, per_payment = $1', [AMOUNT - 1]);
  const { body: capped } = await till.get('/terminal');
  assert.deepEqual(capped.offline, { ...WIDE_LIMITS, cap: AMOUNT - 1 });
  assert.deepEqual((await settled([sale])).map(said), ['limit_exceeded']);
  await db.query('delete from offline_rules');
});

test('the terms let a till check a signature alone', async () => {
  const { body } = await till.get('/terminal');
  const { chainId, usdc, settlement, usdcDomain } = ground.world.network.config;
  const { issued_at: issued, blocked, ...terms } = body.offline_terms as Item;
  assert.deepEqual(terms, {
    chain_id: chainId,
    usdc,
    usdc_name: usdcDomain.name,
    usdc_version: usdcDomain.version,
    settlement,
    merchant_number: Number(ground.world.merchant.merchantNumber),
    rates: { acquirer: 30, protocol: 20, cashback: 5 },
    rates_until: null,
    presentment: null,
  });
  assert.ok(Array.isArray(blocked));
  assert.ok(Math.abs(Date.parse(String(issued)) - Date.now()) < 60_000);
});

test('a merchant that the contract does not know has not settled the sale', async () => {
  const { chain } = ground.world.network;
  const { authorization: signed, salt } = await signOffline(ground, await ground.bare(PULLED));
  const judged = await judgeOnChain(chain, {
    payment: {
      ...{ number: 1n, payer: signed.from as Hex, merchantNumber: 999n },
      ...{ amount: BigInt(AMOUNT), orderId: 'offline' },
    },
    authorization: {
      ...{ salt: salt as Hex, bindsOrder: false, signature: signed.signature as Hex },
      validBefore: String(signed.valid_before),
    },
    rates: RATES,
  });
  assert.equal(judged, 'merchant_refused');
});

test('the block and the limit of a registered chip hold offline, too', async () => {
  const { chainId } = ground.world.network.config;
  const app = ground.server.payer(await signInWallet(ground.server.url, newWallet(), { chainId }));
  const register = async (chip: PrivateKeyAccount, more: object) => {
    const { body } = await app.get(`/chips/proof?address=${chip.address}`);
    const signature = await chip.signMessage({ message: String(body.message) });
    const made = await app.post('/chips', { address: chip.address, signature, ...more });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  const [limited, blocked] = [await ground.bare(PULLED), await ground.bare(PULLED)];
  await register(limited, { per_payment_limit: AMOUNT - 1 });
  await register(blocked, {});
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ blocked: true });
  await app.send('PATCH', `/chips/${blocked.address}`, { headers, body });
  const sales = [await signOffline(ground, limited), await signOffline(ground, blocked)];
  assert.deepEqual((await settled(sales)).map(said), ['limit_exceeded', 'blocked']);
});

test('totals and the list of one till count settled and bounced sales', async () => {
  const { id, by } = await newTill();
  const sales = [await signed(), await signed(), await signed({}, 0n)];
  const items = await settled(sales, by);
  const { body } = await by.get('/totals');
  assert.deepEqual(body.offline, {
    payments: 2,
    sales: AMOUNT * 2,
    bounced: 1,
    bounced_amount: AMOUNT,
  });
  const { body: list } = await merchant.get(`/offline_payments?terminal=${id}`);
  const newestFirst = (list.data as Item[]).map((one) => one.id);
  assert.deepEqual(newestFirst, items.map((one) => one.id).reverse());
});
