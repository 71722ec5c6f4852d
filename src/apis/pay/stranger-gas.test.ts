import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { tagToken } from '#terminals/tag-url.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import {
  addContractWallet,
  delegate,
  type LinkBody,
  payByLink,
  sign,
  signByLink,
} from '#testkit/apis/pay-links.ts';
import { serveStore } from '#testkit/apis/store-server.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { signPermitOn, signPolicyOn } from '#testkit/fixtures/payers/sign-approval.ts';
import { PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import {
  addTerminal,
  intentMaker,
  TEST_GAS,
  TEST_ID_KEY,
} from '#testkit/fixtures/payments/store.ts';

/**
 * A wallet with code may accept in `eth_call` what it refuses in the block. The operator pays for
 * that block, so the number of such payments is limited, and nobody else may notice the limits.
 */

interface Wallet {
  readonly from: Hex;
  readonly account: PrivateKeyAccount;
}

/** Approvals an hour from one IP address. */
const PER_ADDRESS = 8;

const ground = openForTests(() => startPayGround({ gas: { approvalsPerAddress: PER_ADDRESS } }));

const hostile = (on = ground) =>
  addContractWallet(on.world.network, { usdc: PULLED, manner: 'burning' });
const honest = (sales = 1n, on = ground) =>
  addContractWallet(on.world.network, { usdc: sales * PULLED });

const payAt = async (
  token: string,
  wallet: Partial<Wallet> & Pick<Wallet, 'account'>,
  on = ground,
) => summary(await payByLink(on.server.pay, token, wallet));

async function payNewLink(wallet: Wallet, on = ground): Promise<string> {
  return payAt((await on.newLink()).token, wallet, on);
}

const REFUSED = '429 rate_limit_exceeded';
const FAILED = '200 authorization_refused';
const PAID = '200 succeeded';

function sent(on: PayGround, intentId: string) {
  return on.store.db.query<{ gas: string }>(
    `select t.id from chain_transactions t join chain_requests r on r.transaction_id = t.id
     where r.subject_id = $1`,
    [intentId],
  );
}

function spending(on: PayGround, kind: string) {
  return on.store.db.query<{ gas: bigint; failed: boolean | null }>(
    'select gas, failed from gas_spending where kind = $1 order by id',
    [kind],
  );
}

/** Adds a terminal, at whose tag wallets pay. */
async function newCounter() {
  const { db, clock, merchant } = ground.store;
  const { terminalId } = await addTerminal(db, merchant, clock.now());
  const [row] = await db.query<{ tag: string }>('select tag from terminals where id = $1', [
    terminalId,
  ]);
  const tag = `/tags/${tagToken(TEST_ID_KEY, row?.tag ?? '')}`;
  const charge = () => intentMaker(ground.store)({ merchant, terminalId }, { amount: 2_500_000 });
  /** Signs the oldest open payment. @returns the request that pays. */
  const ready = async ({ from, account }: Wallet) => {
    const { payment } = (await ground.server.pay.get(`${tag}?from=${from}`)).body;
    const shown = payment as LinkBody & { readonly reference: string };
    const signed = { payment: shown.reference, from, signature: await sign(account, shown) };
    return (): Promise<Reply> => ground.server.pay.post(`${tag}/authorization`, signed);
  };
  const pay = async (wallet: Wallet) => summary(await (await ready(wallet))());
  const reference = async () => {
    const { payment } = (await ground.server.pay.get(tag)).body;
    return (payment as { readonly reference: string } | null)?.reference;
  };
  return { charge, ready, pay, reference };
}

describe('after two failed settlements at a pay link within an hour', () => {
  test('no contract wallet of a stranger costs gas there, on any node, and keys pay', async () => {
    const { intentId, token } = await ground.newLink();
    const second = await serveStore(ground.store, { chains: [ground.world.network.chain] });
    const calls: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const node = turn % 2 === 0 ? ground.server : second;
      calls.push(summary(await payByLink(node.pay, token, await hostile())));
    }
    const stranger = await payByLink(second.pay, token, await honest());
    await second.close();
    assert.deepEqual(calls, [FAILED, FAILED, REFUSED, REFUSED, REFUSED, REFUSED]);
    assert.equal(summary(stranger), REFUSED);
    assert.ok(Number(stranger.headers.get('retry-after')) > 3_000);
    assert.equal((await sent(ground, intentId)).length, 2);
    assert.equal(await payAt(token, { account: await ground.bare() }), PAID);
  });

  test('a wallet that has paid this merchant before pays there, until it fails', async () => {
    const known = await honest(2n);
    assert.equal(await payNewLink(known), PAID);
    const { token } = await ground.newLink();
    for (const _ of [1, 2]) assert.equal(await payAt(token, await hostile()), FAILED);
    assert.equal(await payAt(token, known), PAID);
  });

  test('all other links take contract wallets as before', async () => {
    const attacked = await ground.newLink();
    for (const _ of [1, 2]) assert.equal(await payAt(attacked.token, await hostile()), FAILED);
    assert.equal(await payNewLink(await honest()), PAID);
    const account = await ground.bare();
    await delegate(ground.world.network, account.address, { key: account.address });
    assert.equal(await payNewLink({ from: account.address, account }), PAID);
  });

  test('an hour later the link takes them again', async () => {
    const { token } = await ground.newLink();
    for (const _ of [1, 2]) assert.equal(await payAt(token, await hostile()), FAILED);
    const wallet = await honest();
    assert.equal(await payAt(token, wallet), REFUSED);
    await ground.store.db.query(
      "update gas_spending set created = created - interval '61 minutes'",
    );
    assert.equal(await payAt(token, wallet), PAID);
  });
});

describe('at a tag', () => {
  test('failures count over all payments of its terminal', async () => {
    const counter = await newCounter();
    await counter.charge();
    assert.equal(await counter.pay(await hostile()), FAILED);
    const key = await ground.bare(2n * PULLED);
    assert.equal(await counter.pay({ from: key.address, account: key }), PAID);
    await counter.charge();
    assert.equal(await counter.pay(await hostile()), FAILED);
    assert.equal(await counter.pay(await hostile()), REFUSED);
    assert.equal(await counter.pay(await honest()), REFUSED);
    assert.equal(await counter.pay({ from: key.address, account: key }), PAID);
  });

  test('honest contract wallets pay at the same time', async () => {
    const counter = await newCounter();
    const requests: Promise<Reply>[] = [];
    for (let sale = 0; sale < 4; sale++) await counter.charge();
    for (let sale = 0; sale < 4; sale++) {
      const before = await counter.reference();
      requests.push((await counter.ready(await honest()))());
      assert.ok(await waitUntil(async () => (await counter.reference()) !== before, 5_000));
    }
    assert.deepEqual((await Promise.all(requests)).map(summary), [PAID, PAID, PAID, PAID]);
  });
});

test('a payment that settles, or that is never sent, counts toward nothing', async () => {
  await ground.store.db.query('delete from gas_spending');
  assert.equal(await payNewLink(await honest()), PAID);
  const poor = await addContractWallet(ground.world.network, { usdc: 0n });
  assert.equal(await payNewLink(poor), '200 insufficient_funds');
  const { token } = await ground.newLink();
  const { server } = ground;
  const both = await Promise.all(
    [await honest(), await honest()].map(async (one) =>
      (await signByLink(server.pay, token, one))(),
    ),
  );
  assert.equal(both.map(summary).filter((one) => one === PAID).length, 1);
  assert.equal(await payNewLink({ ...(await hostile()) }), FAILED);
  const account = await ground.bare();
  assert.equal(await payAt((await ground.newLink()).token, { account }), PAID);
  const rows = await spending(ground, 'payment');
  assert.deepEqual(
    rows.map(({ failed }) => failed),
    [true],
  );
  const [{ gas } = { gas: 0n }] = rows;
  assert.ok(gas > 100_000n && gas < 1_000_000n, `a failed payment counts its gas: ${gas}`);
});

describe('the gas of a day', () => {
  test('is a limit with an alarm at half, and a fifth is for wallets that have paid', async () => {
    const perDay = { ...TEST_GAS.perDay, payment: 4_000_000 };
    const small = await startPayGround({ gas: { perDay } });
    try {
      const known = await honest(2n, small);
      assert.equal(await payNewLink(known, small), PAID);
      const told: string[] = [];
      while (told.at(-1) !== REFUSED) told.push(await payNewLink(await hostile(small), small));
      assert.ok(told.length > 1 && told.length < 8, String(told));
      assert.equal(await payNewLink(await honest(1n, small), small), REFUSED);
      const account = await small.bare();
      assert.equal(await payAt((await small.newLink()).token, { account }, small), PAID);
      assert.equal(await payNewLink(known, small), PAID);
      const alarms = await small.store.db.query<{ kind: string; subject: string }>(
        'select kind, subject from chain_alarms order by id',
      );
      assert.deepEqual(alarms, [
        { kind: 'gas_budget_half', subject: 'testnet payment' },
        { kind: 'wallet_payment_limit', subject: 'testnet' },
      ]);
    } finally {
      await small.close();
    }
  });
});

/** Approves with a permit and a policy, as a client with this IP address. */
async function approve({ from, account }: Wallet, address: string): Promise<string> {
  const { config } = ground.world.network;
  const { me } = await ground.server.signIn({ account, from });
  const signer = { account, wallet: from, nonce: 0 };
  const permit = await signPermitOn(config, signer);
  const policy = await signPolicyOn(config, signer);
  const headers = {
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
    'X-Forwarded-For': address,
  };
  const body = JSON.stringify({ permit, policy });
  return summary(await me.send('POST', '/approvals', { headers, body }));
}

test('while a stranger attacks, 40 honest contract wallets pay and approve elsewhere', async () => {
  await ground.store.db.query('delete from gas_spending');
  const regular = await honest(2n);
  assert.equal(await payNewLink(regular), PAID);
  const attacked = await ground.newLink();
  const counter = await newCounter();
  const attackers: Wallet[] = [];
  for (let made = 0; made < 10; made++) attackers.push(await hostile());
  const wallets: Wallet[] = [];
  for (let made = 0; made < 20; made++) {
    const account = await ground.bare();
    await delegate(ground.world.network, account.address, { key: account.address });
    wallets.push(await honest(), { from: account.address, account });
  }
  const attack = async () => {
    const told: string[][] = [];
    for (const wallet of attackers) {
      told.push([await payAt(attacked.token, wallet), await approve(wallet, '198.51.100.1')]);
    }
    return told;
  };
  const pay = async () => {
    const told: string[][] = [];
    for (const [at, wallet] of wallets.entries()) {
      const isAtTag = at % 8 < 2;
      if (isAtTag) await counter.charge();
      const paid = await (isAtTag ? counter.pay(wallet) : payNewLink(wallet));
      told.push([paid, await approve(wallet, `203.0.113.${at}`)]);
    }
    return told;
  };
  const [told, paid] = await Promise.all([attack(), pay()]);
  assert.deepEqual(paid, Array(40).fill([PAID, '201 succeeded']));
  assert.deepEqual(told, [
    ...Array(2).fill([FAILED, '201 failed']),
    ...Array(PER_ADDRESS - 2).fill([REFUSED, '201 failed']),
    ...Array(10 - PER_ADDRESS).fill([REFUSED, REFUSED]),
  ]);
  assert.equal((await sent(ground, attacked.intentId)).length, 2);
  assert.equal(await payAt(attacked.token, await honest()), REFUSED);
  assert.equal(await payAt(attacked.token, regular), PAID);
});
