/**
 * Estimates when blocks are mined from polls of the head, even infrequent ones: a poll that returns
 * block 7 shows that 7 had been mined by then, and that 8 had not. Times are in milliseconds, from
 * any origin.
 */
export interface BlockTimes {
  /** Observations, oldest first. */
  readonly polls: readonly HeadPoll[];
}

interface HeadPoll {
  readonly number: bigint;
  readonly time: number;
  /**
   * The time when the block was first seen as the head; `stillAt` is the time when it was last seen
   * as the head.
   */
  readonly at: number;
  readonly stillAt: number;
}

export const NO_BLOCK_TIMES: BlockTimes = { polls: [] };

/** Number of observations that are kept. On the slowest chain, they span several minutes. */
const REMEMBERED = 24;
/** With fewer observations, blocks may look regular by chance. */
const MIN_POLLS = 4;
/** Maximum deviation of a block from its expected time, as a share of the interval. */
const SLACK = 0.15;
/**
 * The widest useful window, as a share of the interval. In a wider one, the next block's time is
 * too uncertain to delay payments for it.
 */
const MAX_WIDTH = 0.3;
/**
 * The interval computed from block timestamps is used if it differs from the interval that this
 * process observes by less than this share of the latter.
 */
const TIMES_AGREE = 0.35;
/**
 * For intervals of at least this length, the time between two blocks is computed from their
 * timestamps instead of their numbers: slower chains give each block a slot, and some slots stay
 * empty.
 */
const SLOTS_FROM_MS = 2_000;
/**
 * The heads of nodes behind one address differ by up to this many blocks. On a chain with shorter
 * blocks, they differ by as many blocks as are mined in `USUAL_LAG_MS`.
 */
const USUAL_LAG = 3;
const USUAL_LAG_MS = 3_000;

function usualLag(blockTimes: BlockTimes): number {
  const intervalMs = blockInterval(blockTimes);
  return intervalMs === null ? USUAL_LAG : Math.max(USUAL_LAG, USUAL_LAG_MS / intervalMs);
}

export function withLook(blockTimes: BlockTimes, look: Omit<HeadPoll, 'stillAt'>): BlockTimes {
  const { polls } = blockTimes;
  const last = polls.at(-1);
  if (last !== undefined && look.number < last.number) {
    return Number(last.number - look.number) <= usualLag(blockTimes) ? blockTimes : NO_BLOCK_TIMES;
  }
  if (last?.number === look.number) {
    return { polls: [...polls.slice(0, -1), { ...last, stillAt: look.at }] };
  }
  return { polls: [...polls, { ...look, stillAt: look.at }].slice(-REMEMBERED) };
}

/** Adds a block that a node announced as soon as it was mined. */
export function withArrival(blockTimes: BlockTimes, block: Omit<HeadPoll, 'stillAt'>): BlockTimes {
  const last = blockTimes.polls.at(-1);
  if (last?.number !== block.number - 1n) return withLook(blockTimes, block);
  return withLook(withLook(blockTimes, { ...last, at: block.at }), block);
}

/** Milliseconds between blocks; `null` if too little is known. */
export function blockInterval({ polls }: BlockTimes): number | null {
  const [first, last] = [polls[0], polls.at(-1)];
  if (first === undefined || last === undefined || polls.length < MIN_POLLS) return null;
  const seen = (last.at - first.at) / Number(last.number - first.number);
  const reported = median(
    polls.slice(1).map((poll, index) => {
      const before = polls[index] ?? poll;
      return (poll.time - before.time) / Number(poll.number - before.number);
    }),
  );
  const isReported = reported >= 1_000 && Math.abs(reported - seen) < seen * TIMES_AGREE;
  return isReported ? reported : seen;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

export interface DueWindow {
  readonly from: number;
  readonly to: number;
  readonly intervalMs: number;
}

/** Returns the window in which the next block is due; `null` if unknown or blocks are irregular. */
export function dueWindow(blockTimes: BlockTimes): DueWindow | null {
  const { polls } = blockTimes;
  const intervalMs = blockInterval(blockTimes);
  const last = polls.at(-1);
  if (intervalMs === null || last === undefined) return null;
  const behindMs = (poll: HeadPoll) =>
    intervalMs < SLOTS_FROM_MS
      ? Number(last.number - poll.number) * intervalMs
      : last.time - poll.time;
  let from = last.at;
  let to = last.at + intervalMs;
  let agreeing = 1;
  for (const poll of polls.slice(0, -1).toReversed()) {
    const shift = behindMs(poll);
    // This block had been mined at `at`, and the next block had not been mined at `stillAt`.
    const latest = Math.min(to, poll.at + shift + intervalMs);
    const earliest = Math.max(from, poll.stillAt + shift);
    if (earliest > latest + SLACK * intervalMs) break;
    agreeing++;
    // If two observations contradict each other slightly, keep the window of the newer one.
    if (earliest <= latest) [from, to] = [earliest, latest];
  }
  return agreeing < MIN_POLLS ? null : { from, to, intervalMs };
}

/**
 * Returns the time at which the next block is due; `null` if blocks are irregular or the block is
 * late.
 */
export function nextBlockAt(blockTimes: BlockTimes, now: number): number | null {
  const window = dueWindow(blockTimes);
  if (window === null || window.to <= now) return null;
  return window.to - window.from > window.intervalMs * MAX_WIDTH ? null : window.to;
}

/**
 * While the next block's time is unknown, pauses between polls grow to a quarter of the time that
 * the payment has already waited.
 */
const GROWTH = 4;
/** Polls per interval, once the interval is known. */
const LOOKS_PER_INTERVAL = 6;
/** Maximum pause between polls while a chain produces no blocks: three polls a second. */
const SLOWEST_MS = 333;

/**
 * Returns when to poll the head next while a payment waits: frequently around the time that a block
 * is due and while it is late, rarely in between.
 */
export function nextLookAt(
  blockTimes: BlockTimes,
  times: {
    readonly lastLookAt: number;
    /** The time at which the payment began to wait. */
    readonly since: number;
    readonly shortestMs: number;
  },
): number {
  const { lastLookAt, since, shortestMs } = times;
  const window = dueWindow(blockTimes);
  // A window almost as wide as the interval would fit any chain, so it predicts nothing.
  if (window === null || window.to - window.from > window.intervalMs / 2) {
    const least = Math.max(shortestMs, (blockInterval(blockTimes) ?? 0) / LOOKS_PER_INTERVAL);
    return (
      lastLookAt + within(Math.min(least, SLOWEST_MS), (lastLookAt - since) / GROWTH, SLOWEST_MS)
    );
  }
  const { intervalMs } = window;
  // Blocks mined before the payment began to wait need no poll, so skip ahead to the first one due
  // after that.
  const missed = Math.max(0, Math.ceil((since - window.to) / intervalMs));
  const [from, to] = [window.from + missed * intervalMs, window.to + missed * intervalMs];
  const slowest = Math.max(SLOWEST_MS, intervalMs / 12);
  if (lastLookAt < from) {
    // Block times change, so also poll occasionally between blocks. A block that comes early is
    // then seen at most one interval late.
    const sometime = Math.max(lastLookAt, since) + Math.max(1_000, intervalMs);
    return Math.min(sometime, to - from < slowest ? to : from + (to - from) / 4);
  }
  const late = Math.max((lastLookAt - from) / 2, (to - from) / 4);
  return lastLookAt + within(Math.max(shortestMs, intervalMs / 20), late, slowest);
}

/**
 * Returns when to poll next while nothing waits: `idleMs` after the last poll or, preferably, up to
 * half of that earlier, in the middle of a window in which a block is due. Such a poll halves the
 * window, so that a later payment needs few polls. A window that is too wide predicts nothing and
 * is ignored.
 */
export function idleLookAt(
  blockTimes: BlockTimes,
  times: { readonly lastLookAt: number; readonly idleMs: number },
): number {
  const { lastLookAt, idleMs } = times;
  const latest = lastLookAt + idleMs;
  const window = dueWindow(blockTimes);
  if (window === null || window.to - window.from > window.intervalMs / 2) return latest;
  const { from, to, intervalMs } = window;
  const middle = (from + to) / 2;
  const at = middle + Math.floor((latest - middle) / intervalMs) * intervalMs;
  return at > lastLookAt + idleMs / 2 ? at : latest;
}

function within(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, Math.max(least, most)));
}
