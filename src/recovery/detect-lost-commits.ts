import { setTimeout as sleep } from 'node:timers/promises';
import { startLoop } from '#core/background-loop.ts';
import { type LedgerState, type LedgerTrust, walPosition } from '#db/detect-replaced-database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError } from '#observability/log.ts';
import { raiseNumbers } from '#recovery/raise-numbers.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { configuredSenders, hasSenders } from '#settlement/chain/fees/configure-senders.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import {
  adoptCluster,
  endDoubt,
  type LedgerRow,
  type NoncesAhead,
  RECOVERY_TOPIC,
  type RecoveryReason,
  requestRecovery,
  selectLedger,
  updateRecovery,
} from '#settlement/network-recovery-queries.ts';

export interface NetworkGuard {
  /** Resolves when this process may use the network, or after `waitMs`. */
  opened(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Poll interval while the network is closed: short, because customers are waiting at the counter.
 */
const CLOSED_LOOK_MS = 100;
/** Pause before querying a node again that did not answer. */
const UNASKED_LOOK_MS = 500;
/** Time limit for a node, so that a slow one does not block the API. */
const NODE_TIMEOUT_MS = 3_000;
/**
 * Poll interval while the network is open, to notice a recovery whose wake-up was lost and to
 * record the WAL position.
 */
const OPEN_LOOK_MS = 1_000;
/**
 * Interval at which the node is polled until the operators have said whether the database was
 * restored.
 */
const DOUBT_LOOK_MS = 2_000;

export interface Findings {
  readonly clusterId: string;
  readonly ledger: Omit<LedgerRow, 'request_count' | 'position'>;
  /** Nonces on the chain by lower-case address; `null` if no node answered. */
  readonly chainNonces: ReadonlyMap<string, bigint> | null;
  readonly trust: LedgerTrust;
}

export type Judgment =
  | { readonly kind: 'stand'; readonly state: LedgerState }
  | { readonly kind: 'adopt' }
  /** Operators must say whether the database was restored. */
  | { readonly kind: 'doubt'; readonly ahead: NoncesAhead }
  | { readonly kind: 'recover'; readonly reason: RecoveryReason; readonly lossShown: boolean };

/**
 * Decides whether the ledger is complete. It is incomplete if its WAL is behind an earlier observed
 * position. If only the chain knows a nonce of ours, either the database was restored or someone
 * else has the key. On a database other than before, it was a restore. On a database that already
 * agreed with the chain, the key was stolen; the sender stops when it notices. In all other cases,
 * the operators must decide. If no node answers and nothing indicates a loss, the ledger is served
 * but nothing is signed.
 */
export function judgeLedger(findings: Findings): Judgment {
  const { ledger, clusterId, chainNonces, trust } = findings;
  if (trust === 'confirmed') return { kind: 'recover', reason: 'position', lossShown: true };
  if (ledger.status === 'recovering') return { kind: 'stand', state: 'closed' };
  const ahead = noncesAhead(ledger.next_nonces, chainNonces);
  const isAhead = Object.keys(ahead).length > 0;
  if (ledger.clusterId !== clusterId && ledger.clusterId !== null) {
    return { kind: 'recover', reason: isAhead ? 'nonce' : 'cluster', lossShown: isAhead };
  }
  if (isAhead && trust !== 'agreed') return { kind: 'doubt', ahead };
  // Another process, with keys that this one lacks, has already asked the operators.
  if (ledger.doubted && trust !== 'agreed') return { kind: 'stand', state: 'closed' };
  if (ledger.clusterId === null) {
    return ledger.used
      ? { kind: 'recover', reason: 'cluster', lossShown: false }
      : { kind: 'adopt' };
  }
  return { kind: 'stand', state: chainNonces === null ? 'serving' : 'signing' };
}

function noncesAhead(
  known: Readonly<Record<string, string>>,
  chainNonces: ReadonlyMap<string, bigint> | null,
): NoncesAhead {
  return Object.fromEntries(
    Object.entries(known).flatMap(([address, next]) => {
      const used = chainNonces?.get(address) ?? 0n;
      return used > BigInt(next) ? [[address, used.toString()]] : [];
    }),
  );
}

/**
 * Queries the chain before the ledger, because each nonce is in the ledger before it is used.
 * Returns `null` if no node answers.
 */
async function readNonces(chain: Chain): Promise<ReadonlyMap<string, bigint> | null> {
  if (!chain.isChecked()) return null;
  const addresses = configuredSenders(chain.config).map((sender) => sender.address);
  const late = sleep(NODE_TIMEOUT_MS, null, { ref: false });
  try {
    const nonces = await Promise.race([chain.nonces(addresses), late]);
    if (nonces === null) return null;
    return new Map(addresses.map((address, i) => [address.toLowerCase(), nonces[i] ?? 0n]));
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcRefusal) return null;
    throw error;
  }
}

interface Look {
  readonly state: LedgerState;
  /** True if the operators must first say whether the database was restored. */
  readonly waits: boolean;
  /** The connection epoch in which ledger and chain were last compared. */
  readonly comparedIn: number | null;
}

const NO_LOOK: Look = { state: 'closed', waits: false, comparedIn: null };

async function ask(
  ctx: ProcessContext,
  chain: Chain,
  judgment: Judgment & { kind: 'recover' },
  ledger: LedgerRow,
): Promise<void> {
  const { db, log, wakeups } = ctx;
  const { livemode, network } = chain.config;
  const { reason, lossShown } = judgment;
  if (
    await requestRecovery(db, { livemode, requestCount: ledger.request_count, reason, lossShown })
  ) {
    log.warn('the ledger must be compared with the chain', { network, reason, lossShown });
  }
  db.watch.lossRecorded(livemode);
  wakeups.send(RECOVERY_TOPIC, network);
}

/**
 * Asks the operators whether the database was restored. The network stays closed until they answer.
 */
async function askOperators(ctx: ProcessContext, chain: Chain, ahead: NoncesAhead): Promise<void> {
  const { db, log, clock } = ctx;
  const { livemode, network } = chain.config;
  await db.transaction(async (tx) => {
    await updateRecovery(tx, livemode, { doubt: ahead });
    const alarm = { kind: 'restored_or_not', subject: network, details: ahead };
    await insertAlarms(tx, livemode, [alarm], clock.now());
  });
  log.error('operators must say whether the database was restored', { network });
}

/** Polls once. @returns the new state; `null` if the next poll is due immediately. */
async function look(ctx: ProcessContext, chain: Chain, last: Look): Promise<Look | null> {
  const { db } = ctx;
  const { livemode } = chain.config;
  const { watch } = db;
  const { epoch } = watch;
  const { ledger, chainNonces } = await compare(ctx, chain, last.comparedIn !== epoch);
  const { clusterId } = watch;
  if (watch.epoch !== epoch || clusterId === null) return null;
  const before = watch.trust(livemode);
  const judgment = judgeLedger({ clusterId, ledger, chainNonces, trust: before });
  await settleDoubt(ctx, chain, judgment, { ledger, before });
  if (judgment.kind === 'adopt') {
    await adoptCluster(db, { livemode, clusterId });
    return null;
  }
  if (judgment.kind === 'recover') await ask(ctx, chain, judgment, ledger);
  else watch.note(walPosition(ledger.position));
  const state = judgment.kind === 'stand' ? judgment.state : 'closed';
  // The chain's state is unknown, so skip numbers: a new intent must not get a number that the
  // chain knows, and an event must not get a position that receivers have seen.
  if (state === 'serving' && last.state !== 'serving') {
    await raiseNumbers(db, livemode);
  }
  watch.stand(livemode, { state, trust: trustAfter(ctx, chain, judgment) }, epoch);
  if (watch.epoch !== epoch) return null;
  const waits = judgment.kind === 'doubt' || (ledger.doubted && before !== 'agreed');
  return { state, waits, comparedIn: state === 'signing' ? epoch : null };
}

/** Compares the ledger with the chain's nonces if that is due and no recovery is running. */
async function compare({ db }: ProcessContext, chain: Chain, isDue: boolean) {
  const { livemode } = chain.config;
  const ledger = await selectLedger(db, livemode);
  if (ledger.status !== 'done' || !isDue) return { ledger, chainNonces: new Map() };
  const chainNonces = await readNonces(chain);
  return { ledger: await selectLedger(db, livemode), chainNonces };
}

/**
 * Asks the operators once. Withdraws the question if the evidence disappears, for example because
 * the node belonged to another chain.
 */
async function settleDoubt(
  ctx: ProcessContext,
  chain: Chain,
  judgment: Judgment,
  { ledger, before }: { readonly ledger: LedgerRow; readonly before: LedgerTrust },
): Promise<void> {
  const { db, clock } = ctx;
  const wasSuspicious = before === 'suspicious';
  if (judgment.kind === 'doubt') {
    if (!wasSuspicious) await askOperators(ctx, chain, judgment.ahead);
  } else if (ledger.doubted && (wasSuspicious || judgment.kind === 'recover')) {
    await db.transaction((tx) => endDoubt(tx, chain.config.livemode, clock.now()));
  }
}

function trustAfter({ db }: ProcessContext, chain: Chain, judgment: Judgment): LedgerTrust {
  if (judgment.kind === 'doubt') return 'suspicious';
  const isSigning = judgment.kind === 'stand' && judgment.state === 'signing';
  // A process without keys has not compared any nonce.
  if (isSigning && hasSenders(chain.config)) return 'agreed';
  const now = db.watch.trust(chain.config.livemode);
  return now === 'suspicious' ? 'unknown' : now;
}

/**
 * Decides, in each process, whether it may write to a network's ledger and whether its senders may
 * sign: at the start, after each broken connection, and when a recovery is requested. Until the
 * first decision, the network is closed to this process.
 */
export function guardNetwork(ctx: ProcessContext, chain: Chain): NetworkGuard {
  const { db, log, wakeups } = ctx;
  const { livemode, network } = chain.config;
  let last = NO_LOOK;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const lookNow = () => {
    lookedAt = Number.NEGATIVE_INFINITY;
    loop.wake();
  };
  const giveUp = db.watch.guard(livemode, lookNow);
  const unlisten = wakeups.on(RECOVERY_TOPIC, network, lookNow);
  const loop = startLoop({
    name: 'network guard',
    pollMs: CLOSED_LOOK_MS,
    onError: (name, error) => {
      log.warn(`the ${name} failed`, { network, error: describeError(error) });
    },
    run: async () => {
      const openMs = db.watch.signs(livemode) ? OPEN_LOOK_MS : UNASKED_LOOK_MS;
      const closedMs = last.waits ? DOUBT_LOOK_MS : 0;
      const restMs = db.watch.serves(livemode) ? openMs : closedMs;
      if (performance.now() - lookedAt < restMs) return false;
      lookedAt = performance.now();
      const next = await look(ctx, chain, last);
      last = next ?? last;
      return next === null;
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
