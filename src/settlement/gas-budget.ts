import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import {
  type GasCall,
  type GasKind,
  insertSpending,
  selectAtDoor,
  selectGasSpent,
} from '#settlement/gas-spending-queries.ts';

export interface GasPolicy {
  /** Gas in 24 hours, for each network. */
  readonly perDay: Readonly<Record<GasKind, number>>;
  /** Approvals an hour from one IP address. */
  readonly approvalsPerAddress: number;
  /** The smallest sale, in atoms, for which a wallet is deployed. */
  readonly deployFrom: number;
}

/**
 * The defaults: 270 failed payments of contract wallets, and 60 deployments, at the ceilings; 2,600
 * approvals and 13,000 transfers by keys.
 */
export const GAS_PER_DAY: GasPolicy['perDay'] = {
  payment: 400_000_000,
  enrolment: 400_000_000,
  transfer: 1_000_000_000,
  wallet_deployment: 100_000_000,
};
const SPENT_ALARMS: Readonly<Record<GasKind, string>> = {
  payment: 'wallet_payment_limit',
  enrolment: 'approval_limit',
  transfer: 'gasless_limit',
  wallet_deployment: 'wallet_deployment_limit',
};
/** The smallest sale for which a wallet is deployed outside the sandbox: 1 USDC. */
export const DEPLOY_FROM = 1_000_000;
/** The part of a day's gas that only trusted wallets may use: a fifth. */
export const KEPT_PART = 5;
/** Payments of wallets with code that may fail within an hour at one pay link or tag. */
const FAILURES_AT_DOOR = 2;
/** The wait until a payment in progress at a pay link or tag has a result. */
const RESULT_WAIT_S = 5;

/**
 * Counts a call, over all processes and before it is requested. Its result then replaces its
 * ceiling with the used gas; a payment that settles counts no more (see `applied`). A wallet is
 * trusted if it has paid before and none of its calls failed that day, so a stranger who uses up
 * the gas of a day closes no trusted wallet.
 * @returns the id of the counted call.
 */
export async function takeGas(
  tx: Tx,
  call: GasCall,
  perDay: number,
): Promise<{ readonly id: bigint } | Refusal> {
  const { livemode, kind, now, door, gas } = call;
  const network = networkOf(livemode);
  await lockName(tx, `gas ${network} ${kind}`);
  const since = addMs(now, -DAY_MS);
  const day = await selectGasSpent(tx, { ...call, since });
  if (door !== undefined && (day.has_failed || call.hasPaidHere !== true)) {
    const closed = await closedAt(tx, door, now);
    if (closed !== null) return closed;
  }
  const trusted = call.hasPaid && !day.has_failed;
  const budget = BigInt(perDay);
  const ofStrangers = budget - budget / BigInt(KEPT_PART);
  // Any budget allows one call.
  const isOver =
    (day.spent > 0n && day.spent + gas > budget) ||
    (!trusted && day.by_strangers > 0n && day.by_strangers + gas > ofStrangers);
  const raise = (name: string, subject: string) => {
    const alarm = { kind: name, subject, details: { gas_per_day: perDay } };
    return insertAlarms(tx, livemode, [alarm], now);
  };
  if (isOver) {
    await raise(SPENT_ALARMS[kind], network);
    return tooMuch(OVER[kind], HOUR_MS / 1000);
  }
  if ((day.spent + gas) * 2n >= budget) await raise('gas_budget_half', `${network} ${kind}`);
  return { id: await insertSpending(tx, { ...call, trusted, since }) };
}

/** Refuses a wallet with code at a pay link or tag where such payments have failed. */
async function closedAt(tx: Tx, door: string, now: Date): Promise<Refusal | null> {
  const { failed, pending, first } = await selectAtDoor(tx, { door, since: addMs(now, -HOUR_MS) });
  // Before the first failure, several honest wallets may pay at a tag at the same time.
  if (failed === 0 || failed + pending < FAILURES_AT_DOOR) return null;
  const opensAt = (first ?? now).getTime() + HOUR_MS;
  const waitS = failed < FAILURES_AT_DOOR ? RESULT_WAIT_S : (opensAt - now.getTime()) / 1000;
  return tooMuch(
    'Payments by contract wallets have failed here. Pay with a wallet that signs with a key, ' +
      'or ask for another payment link. Nothing was charged.',
    waitS,
  );
}

function tooMuch(message: string, seconds: number): Refusal {
  const headers = { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
  return { ...refuse('rate_limit_exceeded', message), headers };
}

export const OVER: Readonly<Record<GasKind, string>> = {
  payment:
    'The operator pays the gas of no more contract wallets for now. Pay with a wallet that ' +
    'signs with a key. Nothing was charged.',
  enrolment:
    'The operator pays the gas of no more approvals for now. Try again later, or send the ' +
    'approval from the wallet.',
  transfer:
    'The operator pays the gas of no more transfers for now. This wallet can still send the ' +
    'transfer itself.',
  wallet_deployment:
    'The operator deploys no more wallets for now. Send any transaction from the wallet to ' +
    'deploy it, or use another wallet. Nothing was charged.',
};
