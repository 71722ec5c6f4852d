/** Tells something now, with how many of its kind were left out since it was told last. */
export type Tell = (leftOut: number) => void;

export interface Repeats {
  /** Tells the first of a kind at once; of those that follow only the last, when its time is up. */
  note(kind: string, tell: Tell): void;
}

/** An outage of a minute is then six lines per loop instead of thousands. */
const SAME_EVERY_MS = 10_000;
/** Kinds that are remembered. One more is told at once: rather a line too many than one too few. */
const MAX_KINDS = 1_000;

export function createRepeats(): Repeats {
  /** What came since the kind was told: how often, and the last of it. */
  const since = new Map<string, { count: number; tell: Tell }>();

  const tellAgainLater = (kind: string) => {
    since.set(kind, { count: 0, tell: () => {} });
    const timer = setTimeout(() => {
      const { count, tell } = since.get(kind) ?? { count: 0, tell: () => {} };
      since.delete(kind);
      if (count === 0) return;
      tellAgainLater(kind);
      tell(count - 1);
    }, SAME_EVERY_MS);
    timer.unref();
  };
  return {
    note: (kind, tell) => {
      const known = since.get(kind);
      if (known !== undefined) {
        known.count++;
        known.tell = tell;
        return;
      }
      if (since.size < MAX_KINDS) tellAgainLater(kind);
      tell(0);
    },
  };
}
