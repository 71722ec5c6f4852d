import { addMs } from '#core/clock.ts';
import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { OtherEvent, SettlementEvent } from '#settlement/contract/contract-events.ts';
import {
  type MovedOnChain,
  selectUnexplained,
  type UnexplainedRow,
} from '#settlement/foreign-settlement-queries.ts';
import { toNumberColumn } from '#settlement/number-columns.ts';
import { alarmsOfForeign } from '#settlement/reconciliation/note-foreign.ts';
import {
  changesRules,
  logNews,
  type NotedRules,
  type NoteRulesDeps,
  noteRulesIn,
} from '#settlement/reconciliation/note-rules.ts';
import type { Hex } from '#settlement/requests.ts';
import { readAgreed, type Sight } from '#watch/agreed-events.ts';
import { carryOut } from '#watch/carry-out.ts';
import { judge, placeOf } from '#watch/judge.ts';
import {
  insertSteps,
  isComplete,
  moveWatched,
  saveFindings,
  selectWatched,
  sumConfirmed,
  wasLookedAt,
} from '#watch/watch-queries.ts';

export interface WatchDeps extends Omit<NoteRulesDeps, 'chain'> {
  /** One for each address of the network's nodes, asked by itself. */
  readonly chains: readonly [Chain, ...Chain[]];
  /** With the contract's WATCH_ROLE; null: it tells, and stops nothing. */
  readonly watchKey: Hex | null;
  /** Atoms; settlements and refunds of strangers stop the network from this sum on. */
  readonly pauseFrom: bigint;
}

/** A page comes within three seconds or two blocks, the longer. */
const LOOK_MS = 1_000;
/** Addresses that differ for longer are told, and no longer waited for. */
const DIFFER_MS = 15_000;
/** Sums of strangers count for a day. */
const SUM_MS = 86_400_000;
/**
 * After the database has turned out to be another one, or to have gone back: workers find out what
 * it has lost meanwhile, and until then nothing is concluded from rows that are not there.
 */
const RESTORED_MS = 10_000;

/** What one watchtower knows from look to look. */
interface Memory {
  nextBlock: bigint | null;
  differsSince: number | null;
  changes: number;
  changedAt: number | null;
}

type Found = Extract<
  SettlementEvent,
  { event: 'PaymentSettled' | 'PaymentRefunded' | 'Withdrawn' }
>;

function movesMoney(event: SettlementEvent): event is Found {
  return ['PaymentSettled', 'PaymentRefunded', 'Withdrawn'].includes(event.event);
}

function toMoved(event: Found): MovedOnChain {
  const place = { tx_hash: event.txHash, log_index: event.logIndex };
  const common = {
    ...place,
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

/** Grants whose announcement a person has looked at. */
async function selectExpected(
  tx: Tx,
  livemode: boolean,
  events: readonly OtherEvent[],
): Promise<ReadonlySet<string>> {
  const expected = new Set<string>();
  for (const event of events) {
    if (event.name !== 'RoleGranted') continue;
    const grant = { role: String(event.details.role), account: String(event.details.account) };
    if (await wasLookedAt(tx, livemode, grant)) expected.add(placeOf(event));
  }
  return expected;
}

function placeOfRow({ tx_hash, log_index }: UnexplainedRow): string {
  return placeOf({ txHash: tx_hash, logIndex: log_index });
}

interface Judged {
  readonly rules: NotedRules;
  /** Found for the first time. */
  readonly moved: readonly UnexplainedRow[];
}

/** Writes down what nothing explains, and what is to be done about it, in one transaction. */
async function note(tx: Tx, deps: WatchDeps, { events }: Pick<Sight, 'events'>): Promise<Judged> {
  const [chain] = deps.chains;
  const { livemode } = chain.config;
  const now = deps.clock.now();
  const confirmed = new Set(events.flatMap((one) => (one.confirmed ? [placeOf(one.event)] : [])));
  const all = events.map(({ event }) => event);
  const moved = await selectUnexplained(tx, livemode, all.filter(movesMoney).map(toMoved));
  const isConfirmed = (row: UnexplainedRow) => confirmed.has(placeOfRow(row));
  const findings = moved.map((row) => {
    const { tx_hash, log_index, kind, amount } = row;
    return { tx_hash, log_index, kind, amount: `${amount}`, confirmed: isConfirmed(row) };
  });
  const fresh = await saveFindings(tx, livemode, findings, now);
  await insertAlarms(tx, livemode, alarmsOfForeign(moved), now);
  const rules = await noteRulesIn(
    tx,
    { ...deps, chain },
    { events: all.filter(changesRules), isFirst: false },
  );
  if (deps.watchKey !== null) {
    const sure = rules.unexplained.filter((event) => confirmed.has(placeOf(event)));
    const foreignSum = await sumConfirmed(tx, livemode, addMs(now, -SUM_MS));
    const expectedGrants = await selectExpected(tx, livemode, sure);
    const found = { moved: moved.filter(isConfirmed), rules: sure, foreignSum, expectedGrants };
    await insertSteps(tx, livemode, judge(found, deps), now);
  }
  return { rules, moved: moved.filter((row) => fresh.has(placeOfRow(row))) };
}

/** Whether rows that are not there mean anything now. */
async function mayJudge({ chains, db, log }: WatchDeps, memory: Memory): Promise<boolean> {
  const { livemode, network } = chains[0].config;
  const { changes, incarnation } = db.watch;
  if (changes !== memory.changes) {
    memory.changes = changes;
    memory.changedAt = performance.now();
    log.warn('the watchtower waits: another database answers than before', { network });
  }
  const { changedAt } = memory;
  if (changedAt !== null && performance.now() - changedAt < RESTORED_MS) return false;
  return isComplete(db, { livemode, incarnation });
}

/** Whether to go on behind this sight: addresses that differ are read again for a while. */
function mayMove(sight: Sight, single: boolean, memory: Memory): boolean {
  if (sight.agreed || single) {
    memory.differsSince = null;
    return true;
  }
  memory.differsSince ??= performance.now();
  return performance.now() - memory.differsSince >= DIFFER_MS;
}

/** One look at the newest blocks. Exported for tests. */
export async function lookOnce(deps: WatchDeps, memory: Memory): Promise<void> {
  const { chains, db, clock } = deps;
  const { livemode, network } = chains[0].config;
  if (!(await mayJudge(deps, memory))) return;
  memory.nextBlock ??= await selectWatched(db, livemode);
  // What is older than its first look was looked at by reconciliation.
  memory.nextBlock ??= (await chains[0].newest()).number;
  const sight = await readAgreed(chains, memory.nextBlock);
  if (sight === null) return;
  const moves = mayMove(sight, chains.length === 1, memory);
  const differs = moves && !sight.agreed && chains.length > 1;
  const { rules, moved } = await db.transaction(async (tx) => {
    const judged = await note(tx, deps, sight);
    if (differs) {
      const details = { from_block: sight.fromBlock, to_block: sight.toBlock };
      const alarm = { kind: 'watchtower_nodes_differ', subject: network, details };
      await insertAlarms(tx, livemode, [alarm], clock.now());
    }
    if (moves) await moveWatched(tx, livemode, sight.toBlock + 1n);
    return judged;
  });
  if (moves) memory.nextBlock = sight.toBlock + 1n;
  logNews({ ...deps, chain: chains[0] }, rules.news);
  for (const { kind, tx_hash } of moved) {
    deps.log.error('the contract was used past this service', { network, kind, tx_hash });
  }
}

/** @returns what {@link lookOnce} keeps between two looks. */
export function openMemory(): Memory {
  return { nextBlock: null, differsSince: null, changes: 0, changedAt: null };
}

/** Watches one network's contract, block by block, until it is stopped. */
export function startWatchtower(deps: WatchDeps): Pick<Loop, 'stop'> {
  const { network } = deps.chains[0].config;
  const memory = openMemory();
  return startLoop({
    name: 'watchtower',
    pollMs: LOOK_MS,
    onError: (name, error) =>
      deps.log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      await lookOnce(deps, memory);
      await carryOut(deps, deps.watchKey);
      return false;
    },
  });
}
