import { lockOwnAccount } from '#accounts/account-queries.ts';
import { isRefusal } from '#core/answer.ts';
import { dayIn, lastPeriod } from '#core/calendar.ts';
import { addSeconds } from '#core/clock.ts';
import { type IdKey, withdrawalId, withdrawalNumber } from '#core/ids.ts';
import { describeError } from '#core/log.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import {
  type DuePayout,
  type PayoutPeriod,
  savePayout,
  selectDuePayouts,
  selectLastPayout,
  skipOtherWaiting,
} from '#payouts/automatic-payout-queries.ts';
import { type MerchantOnChain, readEverywhere } from '#payouts/merchant-on-chain.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import { requestNumbered } from '#payouts/request-withdrawal.ts';
import {
  selectNumberedWithdrawal,
  selectSpokenFor,
  updatePeriod,
} from '#payouts/withdrawal-queries.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { selectKeptBack } from '#settlement/foreign-settlement-queries.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/** The smallest balance that is paid out by itself: 20 USDC, far more than its gas costs. */
const MIN_PAYOUT = 20_000_000n;

const EVERY = { daily: 'day', weekly: 'week' } as const;
const ACTOR = { type: 'system', name: 'automatic payouts' } as const;

/** The reason why a period ended without a payout, as the API shows it. */
export const SKIPPED = {
  enabled_later: 'Automatic payouts were enabled after this period had ended.',
  below_minimum: 'The balance was less than 20 USDC.',
  payouts_on_hold: 'An owner has held payouts by a link in a mail.',
  wallet_announced: 'Another settlement wallet was announced.',
  held_by_contract: 'The settlement contract did not pay out a new merchant yet.',
  payouts_held: 'A part of the balance is held until the network’s operators decide.',
  account_not_live: 'The account was not registered on the settlement contract.',
  chain_unavailable:
    'The chain could not be reached until the next period had ended. The next payout includes ' +
    'this balance.',
  refused: 'The payout was refused.',
} as const;
export const WAITING = {
  chain_unavailable: 'The chain cannot be reached. The service tries again.',
} as const;

export type PayoutReason = keyof typeof SKIPPED;

/** The context of the loop. */
type Context = ProcessContext & { readonly chains: readonly Chain[] };

/** A period that has ended, of an account and mode. */
interface Ended {
  readonly tenant: Tenant;
  readonly every: PayoutPeriod;
  readonly period: string;
  readonly now: Date;
}

/**
 * Records the last ended period, so that payouts that are enabled now begin with the current one.
 * The account must be locked.
 */
export async function beginPeriods(
  tx: Tx,
  account: { readonly accountId: string; readonly timeZone: string; readonly now: Date },
  every: PayoutPeriod,
): Promise<void> {
  const { accountId, timeZone, now } = account;
  for (const livemode of [false, true]) {
    const tenant = { accountId, livemode };
    const today = dayIn(timeZone, await accountTime(tx, tenant, now));
    const { from: period } = lastPeriod(EVERY[every], today);
    await saveResult(tx, { tenant, every, period, now }, { skipped: 'enabled_later' });
  }
}

type Result =
  | { readonly withdrawal: string }
  | { readonly skipped: keyof typeof SKIPPED }
  | { readonly waiting: keyof typeof WAITING };

async function saveResult(tx: Tx, { tenant, every, period, now }: Ended, result: Result) {
  const row = {
    ...{ account_id: tenant.accountId, livemode: tenant.livemode, every, period, updated: now },
    ...{ reason: null, withdrawal_id: null },
  };
  if ('withdrawal' in result) {
    await savePayout(tx, { ...row, status: 'requested', withdrawal_id: result.withdrawal });
  } else if ('skipped' in result) {
    await savePayout(tx, { ...row, status: 'skipped', reason: result.skipped });
  } else await savePayout(tx, { ...row, status: 'waiting', reason: result.waiting });
  await skipOtherWaiting(tx, row);
}

/**
 * Pays out the balances of accounts whose day or week has ended. A period's number on the contract
 * is derived from account, mode and period, so that it is paid once, also by a database that was
 * restored.
 */
export async function payOutPeriods(ctx: Context, idKey: IdKey): Promise<boolean> {
  const now = ctx.clock.now();
  for (const due of await selectDuePayouts(ctx.db, now)) {
    const ended = findEnded(due, now);
    if (ended === null) continue;
    try {
      await payOut(ctx, idKey, ended);
    } catch (error) {
      // The others are independent of it; this one is tried again.
      const fields = { account: due.account_id, error: describeError(error) };
      ctx.log.error('an automatic payout failed', fields);
    }
  }
  return false;
}

/** Returns the period that is to be paid; `null` if the last one was. */
function findEnded(due: DuePayout, now: Date): Ended | null {
  const { account_id: accountId, livemode, every, time_zone, ahead_seconds, status } = due;
  const today = dayIn(time_zone, addSeconds(now, Number(ahead_seconds)));
  const { from: period } = lastPeriod(EVERY[every], today);
  if (isDone(due.period === null ? undefined : { period: due.period, status }, period)) return null;
  return { tenant: { accountId, livemode }, every, period, now };
}

/** True if the newest recorded period is this one and final, or a later one. */
function isDone(
  last: { readonly period: string; readonly status: string | null } | undefined,
  period: string,
): boolean {
  if (last === undefined || period > last.period) return false;
  return period < last.period || last.status !== 'waiting';
}

async function payOut(ctx: Context, idKey: IdKey, ended: Ended): Promise<void> {
  const { db, chains, wakeups } = ctx;
  const { tenant } = ended;
  // The chain is read before the transaction begins.
  const found = await readEverywhere(db, chains, tenant);
  const isRequested = await db.transaction((tx) => payOutLocked(tx, idKey, { ...ended, found }));
  if (isRequested) wakeups.send('chain-requests', networkOf(tenant.livemode));
}

type Found = Awaited<ReturnType<typeof readEverywhere>>;

async function payOutLocked(
  tx: Tx,
  idKey: IdKey,
  ended: Ended & { readonly found: Found },
): Promise<boolean> {
  const { tenant, every, period, found } = ended;
  if (checkLedger(tx.watch, tenant.livemode) !== null) return false;
  const account = await lockOwnAccount(tx, tenant.accountId);
  const last = await selectLastPayout(tx, tenant, every);
  // Another worker was faster, or the setting has changed.
  if (account.automatic_payout !== every) return false;
  if (isDone(last, period)) return false;
  const key = { tenant, caller: 'automatic payout', key: `${every} ${period}` };
  const number = withdrawalNumber(idKey, key);
  const known = await selectNumberedWithdrawal(tx, { livemode: tenant.livemode, number });
  if (known !== undefined) {
    await updatePeriod(tx, { id: known.id, period });
    await saveResult(tx, ended, { withdrawal: known.id });
    return false;
  }
  const result = await tryToRequest(tx, ended, {
    ...{ number, found },
    id: withdrawalId(idKey, { livemode: tenant.livemode, number }),
  });
  await saveResult(tx, ended, result);
  return 'withdrawal' in result;
}

async function tryToRequest(
  tx: Tx,
  { tenant, period, now }: Ended,
  { number, id, found }: { readonly number: bigint; readonly id: string; readonly found: Found },
): Promise<Result> {
  if (isRefusal(found)) {
    const isAway = found.code === 'service_unavailable';
    return isAway ? { waiting: 'chain_unavailable' } : { skipped: 'account_not_live' };
  }
  const from = await choose(tx, tenant, found);
  if ((await checkNotHeld(tx, tenant.accountId)) !== null) return { skipped: 'payouts_on_hold' };
  if (from.contract.announced !== null) return { skipped: 'wallet_announced' };
  if (from.contract.heldUntil !== null) return { skipped: 'held_by_contract' };
  if ((await selectKeptBack(tx, tenant)) > 0n) return { skipped: 'payouts_held' };
  if (from.amount < MIN_PAYOUT) return { skipped: 'below_minimum' };
  const request = { tenant, amount: from.amount, actor: ACTOR, now, number, id, period };
  const row = await requestNumbered(tx, request, from.contract);
  if (!isRefusal(row)) return { withdrawal: row.id };
  return { skipped: row.code === 'unexpected_state' ? 'wallet_announced' : 'refused' };
}

/** Returns the oldest contract that holds enough, or else the one that holds the most. */
async function choose(tx: Tx, tenant: Tenant, found: readonly MerchantOnChain[]) {
  const all = await Promise.all(
    found.map(async (contract) => {
      const spoken = await selectSpokenFor(tx, tenant, contract.blockNumber);
      return { contract, amount: contract.available - spoken };
    }),
  );
  const most = all.reduce((best, one) => (one.amount > best.amount ? one : best));
  return all.find(({ amount }) => amount >= MIN_PAYOUT) ?? most;
}
