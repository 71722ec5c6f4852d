import { setTimeout as sleep } from 'node:timers/promises';
import { type Refusal, refuse } from '#core/answer.ts';
import { startLoop } from '#core/background-loop.ts';
import { type Network, networkOf, type Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { describeError, type Log } from '#observability/log.ts';
import {
  atomsOf,
  type Ceiling,
  commonShare,
  hourIsFull,
  isFull,
} from '#settlement/hourly-ceiling-and-shares.ts';
import { selectOwnShares } from '#settlement/hourly-ceiling-queries.ts';
import { type NetworkRow, selectNetworks } from '#settlement/readiness-queries.ts';

export const UNSETTLED_REASONS = [
  'no_worker',
  'no_gas',
  'no_node',
  'clock',
  'recovering',
  'paused',
  'ceiling',
] as const;

/** A reason why a network currently settles nothing (behavior.md 15.6). */
export type UnsettledReason = (typeof UNSETTLED_REASONS)[number];

export interface NetworkState {
  readonly settles: boolean;
  /** Empty while the network settles. */
  readonly reasons: readonly UnsettledReason[];
}

/** This process's copy of the state of both networks. */
export interface Readiness {
  of(livemode: boolean): NetworkState;
  /** Returns the number of payments that the active senders can pay for; `null` if unknown. */
  paymentsLeft(livemode: boolean): number | null;
  /**
   * Returns the atoms that the account may settle per hour; `null` if only the contract's ceiling
   * applies.
   */
  shareOf(tenant: Tenant): bigint | null;
}

export interface WatchedReadiness extends Readiness {
  /** Resolves when both networks settle, or after `waitMs`. */
  settled(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** A worker counts as stopped if its last heartbeat is older than this (behavior.md 20.10). */
export const WORKER_GONE_MS = 10_000;
/**
 * Interval between reads. Workers write changes within half a second, so this process sees a change
 * after about a second.
 */
const REFRESH_MS = 500;
const LOOK_MS = 50;

/**
 * Keeps the state of the networks in memory, so that a tap need not query it. Resolves after the
 * first poll. If the database is unreachable, the last state is kept, because nothing can be
 * settled then anyway.
 */
export async function watchReadiness(deps: {
  readonly db: Database;
  readonly log: Log;
  /**
   * The percentage of the hourly ceiling that an account may settle; `null` if it depends on how
   * many accounts sell.
   */
  readonly ceilingShare: number | null;
}): Promise<WatchedReadiness> {
  const { db, log } = deps;
  const states = new Map<boolean, NetworkState>();
  const ceilings = new Map<boolean, Ceiling | null>();
  const paymentsLeft = new Map<boolean, number | null>();
  let ownShares: ReadonlyMap<string, number> = new Map();
  const refresh = async () => {
    const [rows, own] = await Promise.all([
      selectNetworks(db, WORKER_GONE_MS),
      selectOwnShares(db),
    ]);
    ownShares = new Map(own.map((row) => [row.id, row.ceiling_share]));
    for (const row of rows) {
      const state = judgeNetwork(row);
      tell(log, networkOf(row.livemode), { before: states.get(row.livemode), state });
      states.set(row.livemode, state);
      ceilings.set(row.livemode, row.ceiling);
      paymentsLeft.set(row.livemode, paymentsLeftOf(row));
    }
  };
  await refresh();
  const loop = startLoop({
    name: 'network check',
    pollMs: REFRESH_MS,
    run: async () => {
      await refresh();
      return false;
    },
    onError: (name, error) => log.warn(`the ${name} failed`, { error: describeError(error) }),
  });
  return {
    of: (livemode) => states.get(livemode) ?? NOBODY,
    paymentsLeft: (livemode) => paymentsLeft.get(livemode) ?? null,
    shareOf: ({ accountId, livemode }) => {
      const ceiling = ceilings.get(livemode) ?? null;
      if (ceiling === null) return null;
      return atomsOf(ceiling, ownShares.get(accountId) ?? commonShare(ceiling, deps.ceilingShare));
    },
    settled: async (waitMs) => {
      const until = performance.now() + waitMs;
      while ([...states.values()].some(({ settles }) => !settles) && performance.now() < until) {
        loop.wake();
        await sleep(LOOK_MS);
      }
    },
    stop: loop.stop,
  };
}

/** Adds up the numbers of all workers that report one. The other workers hold no senders yet. */
function paymentsLeftOf({ workers }: Pick<NetworkRow, 'workers'>): number | null {
  const known = workers.flatMap(({ paymentsLeft }) => paymentsLeft ?? []);
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
}

const NOBODY: NetworkState = { settles: false, reasons: ['no_worker'] };

function tell(
  log: Log,
  network: Network,
  change: { readonly before: NetworkState | undefined; readonly state: NetworkState },
): void {
  const reasons = change.state.reasons.join();
  if (change.before === undefined || change.before.reasons.join() === reasons) return;
  if (change.state.settles) log.info('the network is settling payments again', { network });
  else log.warn('the network is not settling payments', { network, reasons });
}

/** The network settles if at least one worker has no problem, because one can do all the work. */
export function judgeNetwork(network: Omit<NetworkRow, 'livemode'>): NetworkState {
  const { recovering, all_stopped: allStopped, workers, ceiling } = network;
  const reasons = new Set<UnsettledReason>();
  if (workers.length === 0 || allStopped) reasons.add('no_worker');
  if (workers.every((worker) => worker.reasons.length > 0)) {
    for (const worker of workers) for (const reason of worker.reasons) reasons.add(reason);
  }
  // If no worker holds a sender, senders are moving between workers, which takes only seconds.
  const held = workers.reduce((sum, worker) => sum + worker.senders, 0);
  const funded = workers.reduce((sum, worker) => sum + worker.fundedSenders, 0);
  if (held > 0 && funded === 0) reasons.add('no_gas');
  if (recovering) reasons.add('recovering');
  if (ceiling !== null && isFull(ceiling)) reasons.add('ceiling');
  return { settles: reasons.size === 0, reasons: [...reasons].sort() };
}

/**
 * Returns the refusal for a tap, a confirmation or a payer's approval while the network does not
 * settle; otherwise `null`.
 */
export function checkSettles(readiness: Readiness, livemode: boolean): Refusal | null {
  const { settles, reasons } = readiness.of(livemode);
  if (settles) return null;
  if (reasons.join() === 'ceiling') return hourIsFull(livemode);
  return refuse(
    'service_unavailable',
    `The ${networkOf(livemode)} is not settling payments right now ` +
      `(${reasons.join(', ')}). Nothing was done and nothing was charged. Try again soon.`,
  );
}
