import { type Loop, startLoop } from '#core/background-loop.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Network } from '#core/mode.ts';
import { exactUsdc } from '#core/sums.ts';

import type { Sql, Tx } from '#db/database.ts';
import { type DatabaseWatch, walPosition } from '#db/detect-replaced-database.ts';
import { describeError } from '#observability/log.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { OtherEvent, SettlementEvent } from '#settlement/contract/contract-events.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import {
  type ForeignMovements,
  type MovedOnChain,
  selectUnexplained,
  type UnexplainedRow,
} from '#settlement/foreign-settlement-queries.ts';
import {
  changesRules,
  logNews,
  type NotedRules,
  type NoteRulesDeps,
  noteRules,
} from '#settlement/reconciliation/note-contract-changes.ts';
import { alarmsOfForeign } from '#settlement/reconciliation/note-foreign-settlements.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';
import { toNumberColumn } from '#settlement/uint64-columns.ts';
import { type AgreedEvents, readAgreed } from '#watch/agreed-events.ts';
import { judge, placeOf } from '#watch/decide-pauses.ts';
import { carryOut, checkCoin } from '#watch/pause-contract.ts';
import {
  insertSteps,
  type NewStep,
  noteLook,
  readLedgerState,
  type StepName,
  saveFindings,
  selectLookedAt,
  selectWatched,
  sumConfirmed,
  takeUnreported,
} from '#watch/watch-queries.ts';

export interface WatchDeps extends Omit<NoteRulesDeps, 'chain'> {
  /** One chain client for each of the network's nodes. */
  readonly chains: readonly [Chain, ...Chain[]];
  /** A key with the contract's WATCH_ROLE; `null` if the watchtower only alerts. */
  readonly watchKey: SigningKey | null;
  /** Atoms of unexplained settlements and refunds per day from which the contract is paused. */
  readonly pauseFrom: bigint;
  /** Notifies a merchant's owners, in the transaction that records the events. Optional. */
  readonly notifyOwners?: (tx: Tx, movements: ForeignMovements, now: Date) => Promise<void>;
  /** Alerts the operators, in the transaction that records the alarms. Optional. */
  readonly alertOperators?: (tx: Tx, findings: FoundPast, now: Date) => Promise<void>;
}

export interface FoundPast {
  readonly network: Network;
  /** One line each. */
  readonly lines: readonly string[];
  /** The steps that the watchtower takes in response to the actions. */
  readonly steps: readonly StepName[];
}

/**
 * Poll interval. Events are reported within three seconds or two blocks, whichever takes longer.
 */
const LOOK_MS = 1_000;
/**
 * Time for which providers may disagree before the operators are alerted and the watchtower
 * continues with later blocks.
 */
const DIFFER_MS = 15_000;
/** The period over which unexplained sums are added up. */
const SUM_MS = DAY_MS;
/**
 * Time that the watchtower waits after its database connections broke before it judges events. A
 * restore breaks all connections, and this process may not notice every lost row. Workers see more
 * of the database's log, poll each second, and close the network if something is missing.
 */
const SETTLED_MS = 5_000;
/** Interval of balance checks. Even a flood of proposals takes hours to use up the balance. */
const COIN_EVERY_MS = 60_000;
/** Minimum interval between mails, because a thief may settle every second. */
const MAIL_EVERY_MS = 60_000;

/** The state that a watchtower keeps between polls. */
interface Memory {
  nextBlock: bigint | null;
  differsSince: number | null;
  /** Number of times that this process's connections found a different database. */
  changes: number;
  /** When rows may have gone missing; `null` if none have, or once a recovery has ended. */
  changedAt: Date | null;
  /** Increments with each broken database connection. */
  epoch: number;
  brokeAt: number | null;
  mailedAt: number | null;
}

type WatchedEvent = Extract<
  SettlementEvent,
  { event: 'PaymentSettled' | 'PaymentRefunded' | 'Withdrawn' }
>;

function movesMoney(event: SettlementEvent): event is WatchedEvent {
  return ['PaymentSettled', 'PaymentRefunded', 'Withdrawn'].includes(event.event);
}

function toMoved(event: WatchedEvent): MovedOnChain {
  const position = { tx_hash: event.txHash, log_index: event.logIndex };
  const common = {
    ...position,
    block_number: event.blockNumber.toString(),
    number: toNumberColumn(event.number).toString(),
    merchant_number: event.merchantNumber.toString(),
    amount: event.amount.toString(),
  };
  switch (event.event) {
    case 'PaymentSettled':
      return { ...common, kind: 'payment', address: event.payer, reference: null };
    case 'PaymentRefunded':
      return {
        ...common,
        kind: 'refund',
        address: event.payer,
        reference: event.reference.slice(2),
      };
    case 'Withdrawn':
      return { ...common, kind: 'withdrawal', address: event.wallet, reference: null };
  }
}

function placeOfRow({ tx_hash, log_index }: UnexplainedRow): string {
  return placeOf({ txHash: tx_hash, logIndex: log_index });
}

interface Judged {
  readonly rules: NotedRules;
  /** Events that this poll was the first to find. */
  readonly moved: readonly UnexplainedRow[];
  readonly steps: readonly StepName[];
}

/** Records unexplained events and the steps to take, in the caller's transaction. */
async function note(
  tx: Tx,
  deps: WatchDeps,
  { events }: Pick<AgreedEvents, 'events'>,
): Promise<Judged> {
  const [chain] = deps.chains;
  const { livemode } = chain.config;
  const now = deps.clock.now();
  const confirmed = new Set(events.flatMap((one) => (one.confirmed ? [placeOf(one.event)] : [])));
  const all = events.map(({ event }) => event);
  // Leave out roles that the constructors of later contracts granted.
  const contracts = contractsOf(chain.config);
  const isSinceDeployment = ({ contractVersion, blockNumber }: OtherEvent) =>
    contractVersion === 0 || blockNumber > (contracts[contractVersion]?.deployedAtBlock ?? 0n);
  const moved = await selectUnexplained(tx, livemode, all.filter(movesMoney).map(toMoved));
  const isConfirmed = (row: UnexplainedRow) => confirmed.has(placeOfRow(row));
  const findings = moved.map((row) => {
    const { tx_hash, log_index, kind, amount, account_id } = row;
    const confirmed = isConfirmed(row);
    return { tx_hash, log_index, kind, amount: `${amount}`, account_id, confirmed };
  });
  const fresh = await saveFindings(tx, livemode, findings, now);
  await insertAlarms(tx, livemode, alarmsOfForeign(moved), now);
  const changes = all.filter(changesRules).filter(isSinceDeployment);
  const rules = await noteRules(tx, { ...deps, chain }, { events: changes, isOlder: () => false });
  const steps: NewStep[] = [];
  if (deps.watchKey !== null) {
    const sure = rules.unexplained.filter((event) => confirmed.has(placeOf(event)));
    const foreignSum = await sumConfirmed(tx, livemode, addMs(now, -SUM_MS));
    const executed = sure.filter(({ name }) => name === 'CallExecuted');
    const ids = executed.map(({ details }) => String(details.id));
    const expectedOperations = await selectLookedAt(tx, livemode, ids);
    const findings = {
      moved: moved.filter(isConfirmed),
      rules: sure,
      foreignSum,
      expectedOperations,
    };
    steps.push(...judge(findings, deps));
    await insertSteps(tx, livemode, steps, now);
  }
  const news = moved.filter((row) => fresh.has(placeOfRow(row)));
  return { rules, moved: news, steps: steps.map(({ step }) => step) };
}

/** Alerts the operators, at most once a minute; the alarms list all events. */
async function report(
  tx: Tx,
  { chains, clock, alertOperators }: WatchDeps,
  { rules, moved, steps }: Judged,
  memory: Memory,
): Promise<void> {
  const lines = [
    ...moved.map(({ kind, amount, tx_hash }) => `${kind} of ${exactUsdc(amount)} USDC, ${tx_hash}`),
    ...rules.news.map(
      ({ name, txHash, details: { says } }) =>
        `${name}${says === undefined ? '' : `: ${String(says)}`}, ${txHash}`,
    ),
  ];
  const { mailedAt } = memory;
  if (lines.length === 0 || alertOperators === undefined) return;
  if (mailedAt !== null && performance.now() - mailedAt < MAIL_EVERY_MS) return;
  const result = { network: chains[0].config.network, lines, steps };
  await alertOperators(tx, result, clock.now());
  tx.onCommit(() => {
    memory.mailedAt = performance.now();
  });
}

/** Notifies the owners of merchants whose money was moved, if two providers agree. */
async function notifyConcerned(
  tx: Tx,
  { chains, notifyOwners }: Pick<WatchDeps, 'chains' | 'notifyOwners'>,
  now: Date,
): Promise<void> {
  if (notifyOwners === undefined) return;
  const { livemode } = chains[0].config;
  const unreported = await takeUnreported(tx, { livemode, since: addMs(now, -SUM_MS), now });
  const loud = unreported.filter(({ is_silent }) => !is_silent);
  for (const [accountId, moved] of Map.groupBy(loud, (row) => row.account_id)) {
    await notifyOwners(tx, { accountId, livemode, moved }, now);
  }
}

/**
 * True if a missing row is evidence of a theft. A replaced or reset database may lack payments,
 * which workers detect and recover.
 */
async function mayJudge(deps: WatchDeps, sql: Sql, memory: Memory): Promise<boolean> {
  const { chains, db, clock, log } = deps;
  const { livemode, network } = chains[0].config;
  const { changes, epoch, clusterId } = db.watch;
  if (epoch !== memory.epoch) {
    memory.epoch = epoch;
    memory.brokeAt = performance.now();
  }
  if (changes !== memory.changes || db.watch.trust(livemode) === 'confirmed') {
    memory.changes = changes;
    memory.changedAt = clock.now();
    db.watch.lossRecorded(livemode);
    log.warn('the database was replaced: the watchtower does not act', { network });
  }
  const { brokeAt, changedAt } = memory;
  const ledger = await readLedgerState(sql, { livemode, clusterId, changedAt });
  if (db.watch.changes !== memory.changes) return false;
  db.watch.note(walPosition(ledger.position));
  if (brokeAt !== null && performance.now() - brokeAt < SETTLED_MS) return false;
  return ledger.complete;
}

/**
 * True if the next poll may continue after these blocks. While providers disagree, blocks are read
 * again, up to `DIFFER_MS`.
 */
function mayMove(read: AgreedEvents, single: boolean, memory: Memory): boolean {
  if (read.agreed || single) {
    memory.differsSince = null;
    return true;
  }
  memory.differsSince ??= performance.now();
  return performance.now() - memory.differsSince >= DIFFER_MS;
}

/** Polls the newest blocks once. Exported for tests. */
export async function lookOnce(deps: WatchDeps, memory: Memory): Promise<void> {
  const { chains, db, clock } = deps;
  const { livemode, network } = chains[0].config;
  memory.nextBlock ??= await selectWatched(db, livemode);
  // Start at the newest block: reconciliation compares the earlier ones.
  memory.nextBlock ??= (await chains[0].newest()).number;
  if (!(await mayJudge(deps, db, memory))) return;
  const now = clock.now();
  const { nextBlock } = memory;
  const read = await readAgreed(chains, nextBlock);
  if (read === 'no node answers') return;
  if (read === 'nothing new') return noteLook(db, { livemode, next: nextBlock, now });
  const moves = mayMove(read, chains.length === 1, memory);
  const differs = moves && !read.agreed && chains.length > 1;
  const judged = await db.transaction(async (tx) => {
    // Check again: the database may have been replaced while the nodes were queried.
    if (!(await mayJudge(deps, tx, memory))) return null;
    const result = await note(tx, deps, read);
    await report(tx, deps, result, memory);
    await notifyConcerned(tx, deps, now);
    if (differs) {
      const details = { from_block: read.fromBlock, to_block: read.toBlock };
      const alarm = { kind: 'watchtower_nodes_differ', subject: network, details };
      await insertAlarms(tx, livemode, [alarm], now);
    }
    await noteLook(tx, { livemode, next: moves ? read.toBlock + 1n : nextBlock, now });
    return result;
  });
  if (judged === null) return;
  if (moves) memory.nextBlock = read.toBlock + 1n;
  logNews({ ...deps, chain: chains[0] }, judged.rules.news);
  for (const { kind, tx_hash } of judged.moved) {
    deps.log.error('the contract was used outside this service', { network, kind, tx_hash });
  }
}

/**
 * @param watch The state of a database that is known not to have been restored while this process
 * was down.
 * @returns the state that {@link lookOnce} keeps between polls.
 */
export function openMemory(watch?: Pick<DatabaseWatch, 'changes' | 'epoch'>): Memory {
  return {
    ...{ nextBlock: null, differsSince: null, changedAt: null, brokeAt: null, mailedAt: null },
    ...{ changes: watch?.changes ?? 0, epoch: watch?.epoch ?? -1 },
  };
}

/** Watches one network's contract, block by block, until it is stopped. */
export function startWatchtower(deps: WatchDeps): Pick<Loop, 'stop'> {
  const { network } = deps.chains[0].config;
  const memory = openMemory();
  let coinAt = Number.NEGATIVE_INFINITY;
  return startLoop({
    name: 'watchtower',
    pollMs: LOOK_MS,
    onError: (name, error) =>
      deps.log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      await lookOnce(deps, memory);
      await carryOut(deps, deps.chains, deps.watchKey);
      if (performance.now() - coinAt >= COIN_EVERY_MS) {
        coinAt = performance.now();
        await checkCoin(deps, deps.chains, deps.watchKey);
      }
      return false;
    },
  });
}
