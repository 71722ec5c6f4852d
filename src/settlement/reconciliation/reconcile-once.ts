import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { shownBlock } from '#settlement/chain/read/final-block.ts';
import { firstBlockOf } from '#settlement/contract-versions.ts';
import { markCompared, updateRecovery } from '#settlement/network-recovery-queries.ts';
import { compare } from '#settlement/reconciliation/compare-ledgers.ts';
import { followChain } from '#settlement/reconciliation/follow-chain.ts';
import type { NoteRulesDeps } from '#settlement/reconciliation/note-contract-changes.ts';
import { noteForeign } from '#settlement/reconciliation/note-foreign-settlements.ts';
import {
  type DifferenceRow,
  moveCompared,
  resetCursor,
  saveDifferences,
  selectCompared,
  selectCursor,
  selectFirstWaiting,
  selectLostTo,
  selectUnread,
} from '#settlement/reconciliation/reconcile-queries.ts';
import {
  least,
  readUnread,
  type Scan,
  storeEvents,
} from '#settlement/reconciliation/store-events.ts';
import { raiseAboveChain } from '#settlement/settlement-numbers.ts';

export interface ReconcileOptions {
  /** Reads all events again, from the contract's deployment on. */
  readonly rebuild?: boolean;
  /** Compares all refunds and withdrawals instead of only those that may have changed. */
  readonly everything?: boolean;
  /**
   * The age from which settlements are compared, because the rows of newer ones may not be stored
   * yet. Default: GRACE_MS.
   */
  readonly graceMs?: number;
  /** `false` keeps the stored differences of the contract's tokens, which saves two calls. */
  readonly tokens?: boolean;
}

export interface Reconciliation {
  readonly network: Chain['config']['network'];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly events: number;
  /** Differences that no operator has accepted. */
  readonly differences: readonly DifferenceRow[];
}

/** Longer than the time between a payment's block and its row, including a restart. */
const GRACE_MS = 60_000;
/**
 * The grace for events without a transaction of ours. It is shorter, because our transactions are
 * stored before they are sent. A node of another chain is also detected within this time.
 */
const FOREIGN_GRACE_MS = 15_000;

/**
 * Reads and stores the contract's events since the last run. Compares, in both directions, the
 * payments, refunds and withdrawals that may have changed, each merchant's balance, and the
 * contract's tokens. Differences become rows, which stay open until a run no longer finds them.
 * Reconciliation never corrects payments, refunds or withdrawals; only the books get an entry.
 * Events that no row explains are recorded as foreign.
 * @throws RpcUnavailable if no node answers; the cursor is then unchanged.
 */
export async function reconcileOnce(
  deps: NoteRulesDeps,
  options: ReconcileOptions = {},
): Promise<Reconciliation> {
  const { chain, db, clock, log } = deps;
  const { livemode, network } = chain.config;
  if (options.rebuild === true) {
    await db.transaction(async (tx) => {
      await resetCursor(tx, livemode, firstBlockOf(chain.config));
      await updateRecovery(tx, livemode, { compared_block: null });
    });
  }
  const head = present(await chain.block('latest'), 'newest block');
  const settledBefore = addMs(clock.now(), -(options.graceMs ?? GRACE_MS));
  const final = await shownBlock(chain, head.number);
  const fromBlock = (await selectCursor(db, livemode))?.next_block ?? firstBlockOf(chain.config);
  const compared = await selectCompared(db, livemode);
  const unread = await selectUnread(db, livemode);
  const scan: Scan = {
    ...{ fromBlock, toBlock: head.number, final, settledBefore, unread },
    watchedFrom: options.rebuild === true ? 0n : head.number + 1n,
    lostTo: await selectLostTo(db, livemode),
  };
  const { events, final: readTo } = await storeEvents(deps, scan);
  await db.transaction((tx) => raiseAboveChain(tx, livemode));
  // An interrupted run may have moved the cursor without comparing, so begin where the last
  // comparison ended.
  const first = compared === null ? fromBlock : least(fromBlock, compared.compared_block);
  const range = { livemode, fromBlock: first, toBlock: head.number };
  const since = options.everything === true ? null : compared;
  const found = await compare({
    ...{ chain, db, range, since, settledBefore, tokens: options.tokens !== false },
    readAgain: async () => {
      const from = (await selectCursor(db, livemode))?.next_block ?? fromBlock;
      await storeEvents(deps, { ...scan, fromBlock: from });
    },
  });
  // The next run compares payments that still wait for confirmations, regardless of the cursor.
  const waiting = await selectFirstWaiting(db, livemode);
  const doneTo = waiting === null ? head.number : least(waiting - 1n, head.number);
  const open = await db.transaction(async (tx) => {
    await moveCompared(tx, compared, { livemode, toBlock: doneTo, before: settledBefore });
    return saveAndFollow(tx, { livemode, final, found, now: clock.now() });
  });
  const foreignMs = Math.min(options.graceMs ?? FOREIGN_GRACE_MS, FOREIGN_GRACE_MS);
  const before = addMs(clock.now(), -foreignMs);
  await db.transaction((tx) => noteForeign(tx, { ...range, before }, clock.now()));
  await readUnread(deps, scan);
  if (!open.some(({ kind, accepted }) => !accepted && kind.endsWith('_unknown_here'))) {
    const { clusterId } = db.watch;
    await markCompared(db, { livemode, clusterId, block: least(readTo, doneTo) });
  }
  const differences = open.filter((difference) => !difference.accepted);
  if (differences.length > 0) {
    log.error('chain and database differ', { network, differences: differences.length });
  }
  return { network, fromBlock, toBlock: head.number, events, differences };
}

/** Saves the differences of a run, then updates the books to match them. */
async function saveAndFollow(
  tx: Tx,
  run: {
    readonly livemode: boolean;
    readonly final: bigint;
    readonly found: readonly DifferenceRow[];
    readonly now: Date;
  },
) {
  const saved = await saveDifferences(tx, run.livemode, run.found, run.now);
  await followChain(tx, run);
  return saved;
}
