/** A rule that must hold in every history, regardless of its faults. */
export interface Invariant<Source> {
  readonly promise: string;
  /** True if the rule holds at any time. Other rules hold only once everything has settled. */
  readonly always?: boolean;
  /** Returns the violations as sentences; an empty list if there are none. */
  readonly check: (source: Source) => readonly string[] | Promise<readonly string[]>;
}

export interface Violation extends Pick<Invariant<unknown>, 'promise' | 'always'> {
  readonly detail: string;
}

export async function violationsOf<Source>(
  invariants: readonly Invariant<Source>[],
  source: Source,
): Promise<Violation[]> {
  const results: Violation[] = [];
  for (const { promise, always = false, check } of invariants) {
    results.push(...(await check(source)).map((detail) => ({ promise, always, detail })));
  }
  return results;
}
