import type { Tx } from '#db/database.ts';
import { type ScannedRange, scanEvents } from '#settlement/chain/read/chain-scan.ts';
import { type OtherEvent, readEvents } from '#settlement/contract/contract-events.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import {
  changesRules,
  logNews,
  type NotedRules,
  type NoteRulesDeps,
  noteRules,
} from '#settlement/reconciliation/note-contract-changes.ts';
import {
  addBalances,
  lockCursor,
  markRead,
  moveCursor,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { stageRange } from '#settlement/reconciliation/stage-range.ts';

export interface Scan {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly final: bigint;
  readonly settledBefore: Date;
  /** The first block that a new ledger watches. Older events are not reported. */
  readonly watchedFrom: bigint;
  /** The last block of the period that the database has lost; `null` if no data was lost. */
  readonly lostTo: bigint | null;
  /** Contracts whose rule changes {@link readUnread} reads. */
  readonly unread: readonly number[];
}

/** `final` is the last block that need not be read again. */
export async function storeEvents(
  deps: NoteRulesDeps,
  scan: Scan,
): Promise<{ events: number; final: bigint }> {
  let events = 0;
  let { final } = scan;
  for await (const range of scanEvents(deps.chain, scan.fromBlock, scan.toBlock)) {
    events += range.events.length;
    // Events too recent to be compared are read again, even if the chain calls them final.
    const young = firstSince(range, scan.settledBefore);
    if (young !== null && young <= final) final = young - 1n;
    const { news } = await deps.db.transaction((tx) =>
      storeRange(tx, deps, range, { ...scan, final }),
    );
    logNews(deps, news);
  }
  return { events, final };
}

/**
 * Returns the first block of the range with an event not older than `since`; `null` if there is
 * none.
 */
function firstSince({ times }: ScannedRange, since: Date): bigint | null {
  const young = [...times].flatMap(([number, time]) => (time >= since ? [number] : []));
  return young.reduce<bigint | null>((least, n) => (least === null || n < least ? n : least), null);
}

/**
 * Stores a range's events, and reports the range's rule changes in the same transaction. The cursor
 * moves past the final part only, and the rest is read again.
 */
async function storeRange(
  tx: Tx,
  deps: NoteRulesDeps,
  range: ScannedRange,
  scan: Scan,
): Promise<NotedRules> {
  const { livemode } = deps.chain.config;
  const { fromBlock, toBlock, events } = range;
  const filter = { livemode, start: fromBlock, watchedFrom: scan.watchedFrom };
  const cursor = await lockCursor(tx, filter, deps.clock.now());
  const { next_block: start, watched_from: watchedFrom } = cursor;
  await stageRange(tx, livemode, range);
  const last = least(scan.final, toBlock);
  if (last >= start) {
    await addBalances(tx, { livemode, fromBlock: start, toBlock: last });
    await moveCursor(tx, livemode, last + 1n);
  }
  return noteRules(tx, deps, {
    events: events
      .filter(changesRules)
      .filter(({ contractVersion }) => !scan.unread.includes(contractVersion)),
    isOlder: (event) => event.blockNumber < watchedFrom && !isOfLostTime(deps, scan, event),
  });
}

/**
 * True if the database has lost its record of the event: the event is later than the contract's
 * deployment, and not later than the last block that was read by the last recovery after a loss.
 */
function isOfLostTime(
  { chain }: NoteRulesDeps,
  { lostTo }: Pick<Scan, 'lostTo'>,
  { blockNumber, contractVersion }: OtherEvent,
): boolean {
  const deployedAt = contractsOf(chain.config)[contractVersion]?.deployedAtBlock ?? 0n;
  return lostTo !== null && blockNumber <= lostTo && blockNumber > deployedAt;
}

/**
 * Reads a contract's events from before the service first read it. The events are stored once. They
 * are not reported, unless the database has lost the service's record of them.
 */
export async function readUnread(
  deps: NoteRulesDeps,
  { unread, toBlock, lostTo }: Pick<Scan, 'unread' | 'toBlock' | 'lostTo'>,
): Promise<void> {
  const { chain, db } = deps;
  const { livemode } = chain.config;
  const contracts = contractsOf(chain.config);
  for (const contractVersion of unread) {
    const contract = contracts[contractVersion];
    if (contract === undefined) continue;
    const { settlement: address, deployedAtBlock } = contract;
    const logs = await chain.logs({ address, fromBlock: deployedAtBlock, toBlock });
    const events = readEvents(chain.config, logs).filter(changesRules);
    const isOlder = (event: OtherEvent) => !isOfLostTime(deps, { lostTo }, event);
    const { news } = await db.transaction(async (tx) => {
      await markRead(tx, { livemode, contractVersion });
      return noteRules(tx, deps, { events, isOlder });
    });
    logNews(deps, news);
  }
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
