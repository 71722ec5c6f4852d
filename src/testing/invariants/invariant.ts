/** A rule that every history must keep, whatever failed during it. */
export interface Invariant<Source> {
  readonly promise: string;
  /** True if the rule holds at every moment. The others hold only once everything has settled. */
  readonly always?: boolean;
  /** Returns violations as sentences; an empty list means none. */
  readonly check: (source: Source) => readonly string[] | Promise<readonly string[]>;
}

export interface Violation extends Pick<Invariant<unknown>, 'promise' | 'always'> {
  readonly detail: string;
}

export async function violationsOf<Source>(
  invariants: readonly Invariant<Source>[],
  source: Source,
): Promise<Violation[]> {
  const found: Violation[] = [];
  for (const { promise, always = false, check } of invariants) {
    found.push(...(await check(source)).map((detail) => ({ promise, always, detail })));
  }
  return found;
}
