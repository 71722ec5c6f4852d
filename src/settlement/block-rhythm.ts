/** When blocks were seen while the head was watched closely. Times in milliseconds, any origin. */
export interface BlockRhythm {
  readonly seenAt: readonly number[];
}

export const NO_RHYTHM: BlockRhythm = { seenAt: [] };

/** Blocks that the rhythm is taken from. */
const REMEMBERED = 6;
/** Fewer intervals could be regular by chance. */
const MIN_INTERVALS = 3;
/** The longest interval may exceed the shortest by this share of it; then nothing is predicted. */
const MAX_SPREAD = 0.25;

export function withBlock(rhythm: BlockRhythm, at: number): BlockRhythm {
  return { seenAt: [...rhythm.seenAt, at].slice(-REMEMBERED) };
}

/** When the next block is due, or null when blocks come irregularly or are late. */
export function nextBlockAt(rhythm: BlockRhythm, now: number): number | null {
  const { seenAt } = rhythm;
  const intervals = seenAt.slice(1).map((at, index) => at - (seenAt[index] ?? at));
  const last = seenAt.at(-1);
  if (last === undefined || intervals.length < MIN_INTERVALS) return null;
  const shortest = Math.min(...intervals);
  if (Math.max(...intervals) > shortest * (1 + MAX_SPREAD)) return null;
  const due = last + shortest;
  return due > now ? due : null;
}
