import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { advanceTestClock } from '#apis/test-helpers/clock-routes.ts';
import { dayAfter, dayIn, dayStart } from '#core/calendar.ts';
import { addSeconds } from '#core/clock.ts';
import { beginPeriods, payOutPeriods } from '#payouts/automatic-payout.ts';
import { type PayoutPeriod, selectPayouts } from '#payouts/automatic-payout-queries.ts';
import { rebuildWithdrawal } from '#payouts/rebuild-withdrawal.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex, RequestPayloads } from '#settlement/chain-requests.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { availableBalance, sell as sellFor, untilPaidOut } from '#testkit/apis/payouts.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addMerchant, TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';

/** The chain is real; the account's test clock advances the days. */

const DAY_SECONDS = 86_400;
const AMOUNT = 25_000_000;
/** The deadline of a wallet's consent, in Unix seconds. */
const DEADLINE = 4_000_000_000n;

let ahead = 0;

const ground = openForTests(startPayGround, async () => {
  await enable('daily');
});

const tenant = () => ground.store.merchant.tenant;
const query = (text: string, values: readonly unknown[] = []) =>
  ground.store.db.query(text, values);
const today = (zone = 'UTC') => dayIn(zone, addSeconds(ground.store.clock.now(), ahead));

async function enable(every: PayoutPeriod): Promise<void> {
  const { accountId } = tenant();
  const now = ground.store.clock.now();
  await ground.store.db.transaction(async (tx) => {
    await tx.query('update accounts set automatic_payout = $2 where id = $1', [accountId, every]);
    // The store has an account of test mode only.
    await tx.query(
      'insert into account_modes (account_id, livemode) values ($1, true) on conflict do nothing',
      [accountId],
    );
    const account = { id: accountId, time_zone: 'UTC', day_starts: null };
    await beginPeriods(tx, { account, now }, every);
  });
}

async function advance(days = 1): Promise<void> {
  const seconds = days * DAY_SECONDS;
  ahead += seconds;
  await advanceTestClock(ground.store, { tenant: tenant(), seconds });
}

/** Ends the pause before the next try, which takes up to half a minute. */
async function endPause(): Promise<void> {
  const rows = await query(
    `update period_ends set due = to_timestamp(0)
     where task = 'payout' and account_id = '${tenant().accountId}' and not livemode
       and due <= now() + interval '30 s' returning due`,
  );
  assert.equal(rows.length, 1, 'it is tried again soon');
}

function run(chain: Chain = ground.world.network.chain): Promise<boolean> {
  return payOutPeriods({ ...ground.store, chains: [chain] }, TEST_ID_KEY);
}

/** Runs, and waits until what was requested is paid. */
async function payOut(): Promise<void> {
  await run();
  await untilPaidOut(ground);
}

const sell = (amount = AMOUNT) => sellFor(ground, amount);
const balance = () => availableBalance(ground);

/** Returns the chain as it looks while its nodes are unreachable. */
const awayChain = (): Chain => ({
  ...ground.world.network.chain,
  calls: () => Promise.reject(new RpcUnavailable('cut off')),
});

/** Returns the account's last period that has ended. */
const endedPeriod = () => dayAfter(today(), -1);

async function newest() {
  const [row] = await selectPayouts(ground.store.db, tenant(), 1);
  return row === undefined ? null : [row.period, row.status, row.reason];
}

async function withdrawals(): Promise<{ period: string | null; amount: bigint }[]> {
  return ground.store.db.query('select period, amount from withdrawals order by position');
}

test('a period that ended before payouts were enabled is not paid', async () => {
  await sell();
  await run();
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'enabled_later']);
  assert.deepEqual(await withdrawals(), []);
});

test('a day that ends is paid once, in full, with any number of workers and zones', async () => {
  await advance();
  await Promise.all(Array.from({ length: 10 }, () => run()));
  await untilPaidOut(ground);
  const ended = endedPeriod();
  assert.deepEqual(await withdrawals(), [{ period: ended, amount: BigInt(AMOUNT) }]);
  assert.equal(await balance(), 0n);
  assert.deepEqual(await newest(), [ended, 'requested', null]);
  await sell();
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC']) {
    await query('update accounts set time_zone = $2 where id = $1', [tenant().accountId, zone]);
    // In the easternmost zones the next day, which is another period, may have ended already.
    if (dayAfter(today(zone), -1) <= ended) await run();
  }
  assert.equal((await withdrawals()).length, 1);
});

test('a period that a restored database has lost is not paid again', async () => {
  const ended = endedPeriod();
  const [paid] = await ground.store.db.query<{ number: bigint; wallet: string; tx_hash: string }>(
    'select number, wallet, tx_hash from withdrawals',
  );
  assert.ok(paid !== undefined);
  await query('delete from automatic_payouts where period = $1', [ended]);
  await query(`delete from balance_entries where type = 'payout'`);
  await query('delete from withdrawals');
  await ground.store.db.transaction((tx) =>
    rebuildWithdrawal(
      tx,
      {
        ...{ tenant: tenant(), number: paid.number, wallet: paid.wallet },
        ...{ amount: BigInt(AMOUNT), txHash: paid.tx_hash, blockTime: ground.store.clock.now() },
      },
      { idKey: TEST_ID_KEY, now: ground.store.clock.now() },
    ),
  );
  assert.deepEqual(await withdrawals(), [{ period: ended, amount: BigInt(AMOUNT) }]);
  assert.deepEqual(await newest(), [ended, 'requested', null]);
  // The restored copy may be older than the last advance of the test clock, and then lacks the
  // period.
  await query('delete from automatic_payouts where period = $1', [ended]);
  await query('update withdrawals set period = null');
  await query('update period_ends set due = to_timestamp(0)');
  await run();
  assert.deepEqual(await withdrawals(), [{ period: ended, amount: BigInt(AMOUNT) }]);
  assert.deepEqual(await newest(), [ended, 'requested', null]);
  assert.equal(await balance(), BigInt(AMOUNT), 'the sale of the current day is not paid out');
});

function countedChain(chain: Chain): { readonly chain: Chain; readonly calls: () => number } {
  let count = 0;
  const calls: Chain['calls'] = (...args) => {
    count++;
    return chain.calls(...args);
  };
  return { chain: { ...chain, calls }, calls: () => count };
}

test('neither chain nor account is read before the period ends in its zone', async () => {
  const { chain, calls } = countedChain(ground.world.network.chain);
  await run(chain);
  assert.equal(calls(), 0);
  const count = (await withdrawals()).length;
  const { accountId } = tenant();
  const due = async () => {
    const [row] = await ground.store.db.query<{ due: Date }>(
      `select due from period_ends where account_id = $1 and not livemode and task = 'payout'`,
      [accountId],
    );
    return row?.due.getTime();
  };
  // West of UTC, no further day has ended.
  for (const zone of ['Pacific/Pago_Pago', 'UTC']) {
    await query('update accounts set time_zone = $2 where id = $1', [accountId, zone]);
    assert.equal(await due(), 0, 'another zone may have ended the day');
    await run();
    const end = dayStart(zone, dayAfter(today(zone), 1));
    assert.equal(await due(), end.getTime() - ahead * 1000);
  }
  assert.equal((await withdrawals()).length, count);
});

test('an unreachable chain is called once for all accounts that wait for it', async () => {
  const { db, clock } = ground.store;
  for (let n = 0; n < 3; n++) {
    const { tenant } = await addMerchant(db, {
      now: clock.now(),
      merchantNumber: BigInt(9_000 + n),
    });
    await query(`update accounts set automatic_payout = 'daily' where id = $1`, [tenant.accountId]);
  }
  const { chain, calls } = countedChain(awayChain());
  await run(chain);
  assert.equal(calls(), 1);
  const waiting = await query(`select from automatic_payouts where status = 'waiting'`);
  assert.equal(waiting.length, 3, 'each owner reads why');
  await query(`update accounts set automatic_payout = null where id <> $1`, [tenant().accountId]);
});

test('an unreachable chain delays a payout', async () => {
  await advance();
  await run(awayChain());
  const ended = endedPeriod();
  assert.deepEqual(await newest(), [ended, 'waiting', 'chain_unavailable']);
  await run();
  assert.deepEqual(await newest(), [ended, 'waiting', 'chain_unavailable'], 'after a pause');
  await endPause();
  await payOut();
  assert.deepEqual(await newest(), [ended, 'requested', null]);
  assert.equal(await balance(), 0n);
});

test('if the chain stays unreachable, the next payout includes the period’s balance', async () => {
  await sell();
  await advance();
  await run(awayChain());
  const first = endedPeriod();
  await advance();
  await run(awayChain());
  const second = endedPeriod();
  const shown = async () => {
    const rows = await selectPayouts(ground.store.db, tenant(), 2);
    return rows.map(({ period, status, reason }) => [period, status, reason]);
  };
  const skipped = [first, 'skipped', 'chain_unavailable'];
  assert.deepEqual(await shown(), [[second, 'waiting', 'chain_unavailable'], skipped]);
  await endPause();
  await payOut();
  assert.deepEqual(await shown(), [[second, 'requested', null], skipped]);
  assert.equal((await withdrawals()).at(-1)?.amount, BigInt(AMOUNT));
  assert.equal(await balance(), 0n);
});

test('the period is skipped while a wallet is announced or a sum is held back', async () => {
  await sell();
  const { network, merchant } = ground.world;
  const { merchantNumber } = merchant;
  const next = privateKeyToAccount(generatePrivateKey());
  const consent = { merchantNumber, wallet: next.address, nonce: 0n, deadline: DEADLINE };
  const signature = await next.signTypedData(walletConsent(network.config, consent));
  await network.rpc.call('anvil_setBalance', [merchant.wallet.address, '0xde0b6b3a7640000']);
  const say = (change: RequestPayloads['wallet_change']) =>
    network.send(merchant.wallet, network.config.settlement, walletChangeCall(change));
  const change = { merchantNumber: `${merchantNumber}`, wallet: next.address, signature };
  await say({ step: 'propose', ...change, deadline: `${DEADLINE}` });
  await advance();
  const count = (await withdrawals()).length;
  await run();
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'wallet_announced']);
  await say({ step: 'cancel', merchantNumber: `${merchantNumber}` });
  await query(
    `insert into foreign_settlements (livemode, kind, number, tx_hash, log_index, block_number,
       account_id, address, amount, found)
     values (false, 'payment', 1, '0x01', 0, 1, $1, '0x02', 5, now())`,
    [tenant().accountId],
  );
  await advance();
  await run();
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'payouts_held']);
  assert.equal((await withdrawals()).length, count);
  await query('delete from foreign_settlements');
  await advance();
  await payOut();
  assert.equal(await balance(), 0n, 'the next period pays all of it');
});

test('the period is skipped while the contract holds payouts to a new merchant', async () => {
  await sell();
  await advance();
  const { chain } = ground.world.network;
  // The third word of the returned account is the end of the hold. This contract sets none, so
  // insert one.
  const until = BigInt(Math.floor(Date.now() / 1000) + DAY_SECONDS);
  const calls: Chain['calls'] = async (...args) => {
    const [account, ...others] = await chain.calls(...args);
    assert.ok(account?.ok);
    const data = `${account.data.slice(0, -64)}${until.toString(16).padStart(64, '0')}` as const;
    return [{ ...account, data: data as Hex }, ...others];
  };
  await run({ ...chain, calls });
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'held_by_contract']);
  await advance();
  await payOut();
  assert.equal(await balance(), 0n, 'the next period pays all of it');
});

test('a refusal because the balance has just changed is tried again in the period', async () => {
  await sell();
  await advance();
  const { db } = ground.store;
  const count = (await withdrawals()).length;
  const ended = endedPeriod();
  const running = await db.transaction(async (tx) => {
    // The service reads the balance, and then waits for this lock.
    await tx.query('lock table payout_holds in access exclusive mode');
    const paying = run();
    const table = "relation = 'payout_holds'::regclass";
    const waiting = `select from pg_locks where not granted and ${table}`;
    while ((await query(waiting)).length === 0) await sleep(10);
    await query(
      `insert into withdrawals (id, account_id, livemode, position, created, updated, amount,
         wallet, status, requested_by)
       values ('wdr_taken', $1, false, 0, now(), now(), 1000000, '0x', 'pending', 'test')`,
      [tenant().accountId],
    );
    return { paying };
  });
  await running.paying;
  assert.deepEqual(await newest(), [ended, 'waiting', 'refused']);
  await query(`delete from withdrawals where id = 'wdr_taken'`);
  await endPause();
  await payOut();
  assert.deepEqual(await newest(), [ended, 'requested', null]);
  assert.equal((await withdrawals()).length, count + 1);
});

test('a balance below 20 USDC or a hold skips the period, each with its reason', async () => {
  const count = (await withdrawals()).length;
  await sell(19_999_999);
  await advance();
  await run();
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'below_minimum']);
  await sell(1_000_000);
  await query(
    `insert into payout_holds (id, account_id, held_by, created) values ('h', $1, 'x', now())`,
    [tenant().accountId],
  );
  await advance();
  await run();
  assert.deepEqual(await newest(), [endedPeriod(), 'skipped', 'payouts_on_hold']);
  await query('update payout_holds set lifted_at = now()');
  await run();
  assert.equal((await withdrawals()).length, count, 'a skipped period stays so');
});

test('a week and its Monday are different periods', async () => {
  await enable('weekly');
  await advance(7);
  await payOut();
  const last = (await withdrawals()).at(-1);
  assert.equal(last?.amount, 20_999_999n);
  assert.equal(new Date(`${last?.period}T00:00:00Z`).getUTCDay(), 1, 'from Monday');
});

test('a period that ends while the account is disabled is paid once it is enabled', async () => {
  await sell(30_000_000);
  const count = (await withdrawals()).length;
  const setStatus = (status: string, reason: string | null) =>
    query('update accounts set status = $2, disabled_reason = $3 where id = $1', [
      tenant().accountId,
      status,
      reason,
    ]);
  await setStatus('disabled', 'a test');
  await advance(7);
  await run();
  assert.equal((await withdrawals()).length, count);
  await setStatus('active', null);
  await payOut();
  const paid = await withdrawals();
  assert.equal(paid.length, count + 1);
  assert.equal(paid.at(-1)?.amount, 30_000_000n);
});
