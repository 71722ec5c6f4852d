import { type AccountRow, type DaysAccount, selectMode } from '#accounts/account-queries.ts';
import type { DuePeriod } from '#accounts/period-end-queries.ts';
import { endPeriods, lockEndedPeriod, retryPeriod } from '#accounts/period-ends.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { dayAfter, dayIn, type Every, lastPeriod, shopDays } from '#core/calendar.ts';
import { type IdKey, withdrawalId, withdrawalNumber } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import {
  type AutomaticPayout,
  PAYOUT_PERIODS,
  type PayoutPeriod,
  savePayout,
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

/** The smallest balance that is paid out automatically: 20 USDC, far more than its gas costs. */
const MIN_PAYOUT = 20_000_000n;

const EVERY = { daily: 'day', weekly: 'week' } as const;
const ACTOR = { type: 'system', name: 'automatic payouts' } as const;

/** The reason why a period ended without a payout, as the API shows it. */
export const SKIPPED = {
  enabled_later: 'Automatic payouts were enabled after this period had ended.',
  below_minimum: 'The balance was less than 20 USDC.',
  payouts_on_hold: 'An owner put payouts on hold with a link in an email.',
  wallet_announced: 'Another settlement wallet was announced.',
  held_by_contract: 'The settlement contract was still holding the new merchant’s payouts.',
  payouts_held: 'Part of the balance is on hold until the network’s operators decide.',
  account_not_live: 'The account was not registered on the settlement contract.',
  chain_unavailable:
    'The chain could not be reached before the next period ended. The next payout includes ' +
    'this balance.',
  refused: 'The payout was refused until the next period ended.',
  disabled: 'Automatic payouts were turned off while this one was waiting.',
} as const;
export const WAITING = {
  chain_unavailable: 'The chain cannot be reached. The service will try again.',
  refused: 'The payout was refused because the balance changed. The service will try again.',
} as const;

export type PayoutReason = keyof typeof SKIPPED;

type Context = ProcessContext & { readonly chains: readonly Chain[] };

interface Ended {
  readonly tenant: Tenant;
  readonly every: PayoutPeriod;
  readonly period: string;
  readonly now: Date;
}

/**
 * Records the last ended period as done, so that newly enabled payouts begin with the current one.
 * The account must be locked.
 */
export async function beginPeriods(
  tx: Tx,
  { account, now }: { readonly account: DaysAccount; readonly now: Date },
  every: PayoutPeriod,
): Promise<void> {
  for (const livemode of [false, true]) {
    const tenant = { accountId: account.id, livemode };
    const today = dayIn(shopDays(account, livemode), await accountTime(tx, tenant, now));
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
    ...rowOf(result),
    ...{ account_id: tenant.accountId, every, period, updated: now },
  };
  await savePayout(tx, { ...row, livemode: tenant.livemode });
  await skipOtherWaiting(tx, { ...row, livemode: tenant.livemode });
  return row.status;
}

function rowOf(result: Result) {
  const none = { reason: null, withdrawal_id: null };
  if ('withdrawal' in result) {
    return { ...none, status: 'requested', withdrawal_id: result.withdrawal } as const;
  }
  if ('skipped' in result) return { ...none, status: 'skipped', reason: result.skipped } as const;
  return { ...none, status: 'waiting', reason: result.waiting } as const;
}

/**
 * Pays out the balances of accounts whose day or week has ended. A payout's number on the contract
 * is derived from account, mode and period, so even a restored database pays a period only once.
 * @returns true if there may be more.
 */
export async function payOutPeriods(ctx: Context, idKey: IdKey): Promise<boolean> {
  const modes = [false, true].filter((livemode) => checkLedger(ctx.db.watch, livemode) === null);
  const unreachable = new Map<boolean, Refusal>();
  const failure = 'an automatic payout failed';
  return endPeriods(ctx, { task: 'payout', modes, failure }, async (due) => {
    const { livemode } = due.tenant;
    // Reads the chain before the transaction begins. After a time-out, this run does not read it
    // again.
    const merchants =
      unreachable.get(livemode) ?? (await readEverywhere(ctx.db, ctx.chains, due.tenant));
    if (isAway(merchants)) unreachable.set(livemode, merchants);
    const status = await ctx.db.transaction((tx) => payOut(tx, idKey, { due, found: merchants }));
    if (status === 'requested') ctx.wakeups.send('chain-requests', networkOf(livemode));
    return status !== 'waiting';
  });
}

type MerchantsOnChain = Awaited<ReturnType<typeof readEverywhere>>;

function isAway(merchants: MerchantsOnChain): merchants is Refusal {
  return isRefusal(merchants) && merchants.code === 'service_unavailable';
}

function everyOf({ automatic_payout: every }: AccountRow): Every | null {
  return every === null ? null : EVERY[every];
}

/** True if the newest recorded period is this one and final, or is a later one. */
function isDone(last: AutomaticPayout | undefined, period: string): boolean {
  if (last === undefined || period > last.period) return false;
  return period < last.period || last.status !== 'waiting';
}

/** @returns the payout's status; `done` if there was nothing left to do. */
async function payOut(
  tx: Tx,
  idKey: IdKey,
  { due, found }: { readonly due: DuePeriod; readonly found: MerchantsOnChain },
): Promise<AutomaticPayout['status'] | 'done'> {
  const { tenant, now } = due;
  // The database may have been replaced since the run began.
  if (checkLedger(tx.watch, tenant.livemode) !== null) return 'waiting';
  const locked = await lockEndedPeriod(tx, due, everyOf);
  const every = locked?.account.automatic_payout ?? null;
  if (locked === null || every === null || locked.account.status !== 'active') return 'done';
  const { from: period } = locked.days;
  if (isDone(await selectLastPayout(tx, tenant, every), period)) return 'done';
  // A mode that was never registered on a contract has no balance.
  if ((await selectMode(tx, tenant))?.merchant_number == null) return 'done';
  const ended = { tenant, every, period, now };
  const number = periodNumber(idKey, ended);
  const known = await selectNumberedWithdrawal(tx, { livemode: tenant.livemode, number });
  if (known !== undefined) {
    await updatePeriod(tx, { id: known.id, period });
    return saveResult(tx, ended, { withdrawal: known.id });
  }
  const id = withdrawalId(idKey, { livemode: tenant.livemode, number });
  const status = await saveResult(tx, ended, await tryToRequest(tx, ended, { number, id, found }));
  if (status === 'waiting') await retryPeriod(tx, due);
  return status;
}

/** Returns the number under which the contract pays this period, at most once. */
function periodNumber(idKey: IdKey, { tenant, every, period }: Omit<Ended, 'now'>): bigint {
  const key = { tenant, caller: 'automatic payout', key: `${every} ${period}` };
  return withdrawalNumber(idKey, key);
}

/**
 * Period starts to try, in days before the payout. In any time zone, a week that waited for the
 * chain began at most two weeks and a day before.
 */
const MAX_DAYS_AGO = 16;

/**
 * Records the period of a payout that was rebuilt from the chain.
 * @param happened when the payout was mined, by the account's clock.
 */
export async function recordRebuilt(
  tx: Tx,
  idKey: IdKey,
  { tenant, number, id, happened, now }: RebuiltPayout,
): Promise<void> {
  const day = dayIn('UTC', happened);
  for (let daysAgo = -1; daysAgo <= MAX_DAYS_AGO; daysAgo++) {
    for (const every of PAYOUT_PERIODS) {
      const ended = { tenant, every, period: dayAfter(day, -daysAgo), now };
      if (periodNumber(idKey, ended) !== number) continue;
      await updatePeriod(tx, { id, period: ended.period });
      await saveResult(tx, ended, { withdrawal: id });
      return;
    }
  }
}

interface RebuiltPayout {
  readonly tenant: Tenant;
  readonly number: bigint;
  readonly id: string;
  readonly happened: Date;
  readonly now: Date;
}

async function tryToRequest(
  tx: Tx,
  { tenant, period, now }: Ended,
  {
    number,
    id,
    found,
  }: { readonly number: bigint; readonly id: string; readonly found: MerchantsOnChain },
): Promise<Result> {
  if (isAway(found)) return { waiting: 'chain_unavailable' };
  if (isRefusal(found)) return { skipped: 'account_not_live' };
  const from = await choose(tx, tenant, found);
  if ((await checkNotHeld(tx, tenant.accountId)) !== null) return { skipped: 'payouts_on_hold' };
  if (from.contract.announced !== null) return { skipped: 'wallet_announced' };
  if (from.contract.heldUntil !== null) return { skipped: 'held_by_contract' };
  if ((await selectKeptBack(tx, tenant)) > 0n) return { skipped: 'payouts_held' };
  if (from.amount < MIN_PAYOUT) return { skipped: 'below_minimum' };
  const request = { tenant, amount: from.amount, actor: ACTOR, now, number, id, period };
  const row = await requestNumbered(tx, request, from.contract);
  if (!isRefusal(row)) return { withdrawal: row.id };
  // A refund requested in the meantime has used part of the balance; the next try pays out the
  // rest.
  return row.code === 'unexpected_state' ? { skipped: 'wallet_announced' } : { waiting: 'refused' };
}

/** Returns the oldest contract that holds enough; if none does, the one that holds the most. */
async function choose(tx: Tx, tenant: Tenant, merchants: readonly MerchantOnChain[]) {
  const all = await Promise.all(
    merchants.map(async (contract) => {
      const spoken = await selectSpokenFor(tx, tenant, contract.blockNumber);
      return { contract, amount: contract.available - spoken };
    }),
  );
  const most = all.reduce((best, one) => (one.amount > best.amount ? one : best));
  return all.find(({ amount }) => amount >= MIN_PAYOUT) ?? most;
}
