import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { bookPayments } from '#recovery/book-payments.ts';
import { bookRegistrations } from '#recovery/book-registrations.ts';
import { bookTransfers } from '#recovery/book-transfers.ts';
import { type After, countAwaitingPayment } from '#recovery/lost-queries.ts';
import { inRun, type RecoveryDeps } from '#recovery/recovery-lease.ts';
import { type ScannedRange, scanEvents } from '#settlement/chain/read/chain-scan.ts';
import { shownBlock } from '#settlement/chain/read/final-block.ts';
import { firstBlockOf } from '#settlement/contract-versions.ts';
import {
  type RecoveryRun,
  selectFirstUncompared,
  updateRecovery,
} from '#settlement/network-recovery-queries.ts';
import { noteForeign } from '#settlement/reconciliation/note-foreign-settlements.ts';
import { stageRange } from '#settlement/reconciliation/stage-range.ts';

/** Interval at which the depth of the newest blocks is checked. */
const LOOK_MS = 250;
/**
 * Maximum wait for results to be applied, because a refund cannot be booked before its payment.
 * Shorter than the recovery's lease.
 */
const APPLIED_MS = 4_000;
const APPLIED_LOOK_MS = 50;
/** Means no age limit, because the range already ends at the depth that payments need. */
const FAR_FUTURE = new Date(8_640_000_000_000);
/** Maximum number of events of one kind that one transaction books. */
const BATCH = 100;

/**
 * Reads the contract's events from the last compared block to the newest, and books what the ledger
 * has lost, range by range. Unless a loss is certain, an event without a row counts as foreign and
 * is not booked. After an interruption, reading continues after the last booked range.
 * @returns the block up to which nothing can change, according to up-to-date nodes.
 */
export async function readChain(deps: RecoveryDeps, run: RecoveryRun): Promise<bigint> {
  const { chain, db } = deps;
  const { livemode, confirmations, confirmationsMs } = chain.config;
  const oldest = firstBlockOf(chain.config);
  const uncompared = (await selectFirstUncompared(db, livemode)) ?? oldest;
  const first = later(uncompared, oldest);
  const newest = async () => present(await chain.block('latest'), 'newest block').number;
  const goal = await newest();
  let from = run.read_to === null ? first : run.read_to + 1n;
  while (from <= goal) {
    // Read only up to the depth at which a payment counts as final.
    const to = (await newest()) - (confirmationsMs > 0 ? 1n : BigInt(confirmations));
    for await (const range of scanEvents(chain, from, to)) await bookRange(deps, run, range);
    if (to >= from) from = to + 1n;
    else await sleep(LOOK_MS);
  }
  const final = await shownBlock(chain, await newest());
  return final < from ? final : from - 1n;
}

async function bookRange(deps: RecoveryDeps, run: RecoveryRun, range: ScannedRange): Promise<void> {
  const { livemode } = deps.chain.config;
  const { fromBlock, toBlock } = range;
  await inRun(deps, run, async (tx) => {
    await stageRange(tx, livemode, range);
    if (run.loss_shown) return;
    const now = deps.clock.now();
    await noteForeign(tx, { livemode, fromBlock, toBlock, before: FAR_FUTURE }, now);
  });
  failpoint('recovery.range_read');
  if (run.loss_shown) await bookRegistrations(deps, run, range);
  await untilNoneIsLeft((after) =>
    inRun(deps, run, (tx) => bookPayments(tx, deps, { range, after, limit: BATCH })),
  );
  failpoint('recovery.payments_booked');
  await awaitPayments(deps, range);
  await inRun(deps, run, (tx) => bookTransfers(tx, deps, range));
  await inRun(deps, run, (tx) => updateRecovery(tx, livemode, { read_to: range.toBlock }));
  failpoint('recovery.range_booked');
}

/**
 * Waits until the results of the range's payments are applied. Other loops apply them, even while
 * the network is closed.
 */
async function awaitPayments({ db, chain }: RecoveryDeps, range: ScannedRange): Promise<void> {
  const { livemode } = chain.config;
  const { fromBlock, toBlock } = range;
  const until = performance.now() + APPLIED_MS;
  while (performance.now() < until) {
    if ((await countAwaitingPayment(db, { livemode, fromBlock, toBlock })) === 0) return;
    await sleep(APPLIED_LOOK_MS);
  }
}

/** Calls `book` repeatedly, each time with the last examined row, until no row is left. */
async function untilNoneIsLeft(book: (after: After) => Promise<After | null>): Promise<void> {
  let after: After | null = { block: -1n, logIndex: -1 };
  while (after !== null) after = await book(after);
}

/** Returns the higher block; `Math.max` accepts no bigint. */
function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
