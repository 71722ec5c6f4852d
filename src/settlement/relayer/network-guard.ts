import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, type Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type LedgerStanding, walPosition } from '#db/watch.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc.ts';
import {
  adoptIncarnation,
  askForRecovery,
  type LedgerRow,
  RECOVERY_TOPIC,
  type RecoveryReason,
  selectLedger,
} from '#settlement/network-recovery-queries.ts';
import { raiseNumbers } from '#settlement/numbers.ts';
import { configuredLanes } from '#settlement/relayer/configure-lanes.ts';

export interface GuardDeps {
  readonly chain: Chain;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly log: Log;
}

export interface NetworkGuard {
  /** Resolves when the network is open to this process, or after `waitMs`. */
  opened(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** While the network is closed, customers wait at a counter. */
const CLOSED_LOOK_MS = 100;
/** A node that comes back is asked soon. */
const UNASKED_LOOK_MS = 500;
/** A node that does not answer by then does not keep the API waiting. */
const NODE_PATIENCE_MS = 3_000;
/** To notice a recovery whose wake-up got lost, and to note how far the log is. */
const OPEN_LOOK_MS = 1_000;

/** What was found out about a network: everything that {@link judgeLedger} needs. */
export interface Findings {
  readonly incarnation: string;
  readonly ledger: Pick<LedgerRow, 'status' | 'incarnation' | 'used' | 'next_nonces'>;
  /** By lower-case address; null: no node answered. */
  readonly chainNonces: ReadonlyMap<string, bigint> | null;
  /** The database's log is behind what this process has seen of it. */
  readonly wentBack: boolean;
}

export type Judgement =
  | { readonly kind: 'stand'; readonly standing: LedgerStanding }
  | { readonly kind: 'adopt' }
  | { readonly kind: 'recover'; readonly reason: RecoveryReason; readonly lossShown: boolean };

/**
 * Whether the ledger can be relied on. Two tests show that it has lost something: its log is behind
 * what we have seen, or the chain knows a nonce of ours that it does not. A database that was not
 * checked yet may have lost something. When no node answers, and there is no sign of a loss, the
 * ledger is served, but nothing is signed.
 */
export function judgeLedger(found: Findings): Judgement {
  const { ledger, incarnation, chainNonces } = found;
  if (found.wentBack) return { kind: 'recover', reason: 'position', lossShown: true };
  if (ledger.status === 'recovering') return { kind: 'stand', standing: 'closed' };
  const ahead = Object.entries(ledger.next_nonces).some(
    ([address, next]) => (chainNonces?.get(address) ?? 0n) > BigInt(next),
  );
  if (ahead) return { kind: 'recover', reason: 'nonce', lossShown: true };
  if (ledger.incarnation !== incarnation) {
    if (ledger.incarnation === null && !ledger.used) return { kind: 'adopt' };
    return { kind: 'recover', reason: 'incarnation', lossShown: false };
  }
  return { kind: 'stand', standing: chainNonces === null ? 'serving' : 'signing' };
}

/**
 * Chain first, ledger second: a nonce is in the ledger before it is used. null: no node answers.
 */
async function readNonces(chain: Chain): Promise<ReadonlyMap<string, bigint> | null> {
  if (!chain.isChecked()) return null;
  const addresses = configuredLanes(chain.config).map((lane) => lane.address);
  const late = sleep(NODE_PATIENCE_MS, null, { ref: false });
  try {
    const nonces = await Promise.race([chain.nonces(addresses), late]);
    if (nonces === null) return null;
    return new Map(addresses.map((address, i) => [address.toLowerCase(), nonces[i] ?? 0n]));
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcRefusal) return null;
    throw error;
  }
}

/** What a guard remembers between its looks. */
interface Memory {
  standing: LedgerStanding;
  /** The epoch in which the chain was asked. */
  askedIn: number | null;
  lookedAt: number;
}

async function ask(
  deps: GuardDeps,
  judgement: Judgement & { kind: 'recover' },
  ledger: LedgerRow,
): Promise<void> {
  const { db, chain, log, wakeups } = deps;
  const { livemode, network } = chain.config;
  const { reason, lossShown } = judgement;
  if (await askForRecovery(db, { livemode, asked: ledger.asked, reason, lossShown })) {
    log.warn('the ledger has to be compared with the chain', { network, reason, lossShown });
  }
  db.watch.toldOfLoss(livemode);
  wakeups.send(RECOVERY_TOPIC, network);
}

/** One look. @returns whether another one is due at once. */
async function look(deps: GuardDeps, memory: Memory): Promise<boolean> {
  const { db, chain } = deps;
  const { livemode } = chain.config;
  const { watch } = db;
  const { epoch } = watch;
  let ledger = await selectLedger(db, livemode);
  let chainNonces: ReadonlyMap<string, bigint> | null = new Map();
  if (ledger.status === 'done' && memory.askedIn !== epoch) {
    chainNonces = await readNonces(chain);
    ledger = await selectLedger(db, livemode);
  }
  const { incarnation } = watch;
  if (watch.epoch !== epoch || incarnation === null) return true;
  const wentBack = watch.sawLoss(livemode);
  const judgement = judgeLedger({ incarnation, ledger, chainNonces, wentBack });
  if (judgement.kind === 'adopt') {
    await adoptIncarnation(db, { livemode, incarnation });
    return true;
  }
  if (judgement.kind === 'recover') await ask(deps, judgement, ledger);
  else watch.note(walPosition(ledger.position));
  const standing = judgement.kind === 'stand' ? judgement.standing : 'closed';
  // We do not know what the chain has settled, and new intents must not take a number that it
  // knows.
  if (standing === 'serving' && memory.standing !== 'serving') await raiseNumbers(db, livemode);
  memory.askedIn = standing === 'signing' ? epoch : null;
  memory.standing = standing;
  watch.stand(livemode, standing, epoch);
  return watch.epoch !== epoch;
}

/**
 * Finds out whether this process may write to a network's ledger, and whether its lanes may sign:
 * at start, after each connection that broke, and whenever somebody asks for a recovery. Until it
 * has looked the network is closed to this process. Every process of the service has one.
 */
export function guardNetwork(deps: GuardDeps): NetworkGuard {
  const { db, chain, log, wakeups } = deps;
  const { livemode, network } = chain.config;
  const memory: Memory = {
    standing: 'closed',
    askedIn: null,
    lookedAt: Number.NEGATIVE_INFINITY,
  };
  const lookNow = () => {
    memory.lookedAt = Number.NEGATIVE_INFINITY;
    loop.wake();
  };
  const giveUp = db.watch.guard(livemode, lookNow);
  const unlisten = wakeups.on(RECOVERY_TOPIC, network, lookNow);
  const loop = startLoop({
    name: 'guard of the ledger',
    pollMs: CLOSED_LOOK_MS,
    onError: (name, error) => {
      log.warn(`the ${name} failed`, { network, error: describeError(error) });
    },
    run: async () => {
      const openMs = db.watch.signs(livemode) ? OPEN_LOOK_MS : UNASKED_LOOK_MS;
      const restMs = db.watch.serves(livemode) ? openMs : 0;
      if (performance.now() - memory.lookedAt < restMs) return false;
      memory.lookedAt = performance.now();
      return look(deps, memory);
    },
  });
  return {
    opened: async (waitMs) => {
      const until = performance.now() + waitMs;
      while (!db.watch.serves(livemode) && performance.now() < until) await sleep(CLOSED_LOOK_MS);
    },
    stop: async () => {
      unlisten();
      await loop.stop();
      giveUp();
    },
  };
}
