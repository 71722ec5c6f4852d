/** Returns how often each of these results occurs. */
export function tally(results: readonly string[]): Record<string, number> {
  const groups = [...Map.groupBy(results, (result) => result)];
  return Object.fromEntries(groups.map(([result, all]) => [result, all.length]));
}
