/**
 * Forms of conditions that leave the planner a single index (docs/decisions/plans.md). A plan is
 * made once per connection, often while a table is nearly empty. Then all indexes cost the same,
 * and the chosen one is scanned completely once the table has grown.
 */

/**
 * Returns a condition that only checks rows found by another one. The planner cannot use it for an
 * index; otherwise an index that begins with one of its columns would seem as good as the right
 * one.
 */
export function checked(condition: string): string {
  return `case when ${condition} then true end`;
}

/**
 * Returns a condition that looks up the one row with this key. A row comparison is served only by
 * an index that begins with the first of the columns, so no other index of the table may begin with
 * it.
 */
export function wholeKey(columns: readonly string[], values: readonly string[]): string {
  if (columns.length === 1) return `${columns[0]} = ${values[0]}`;
  const [left, right] = [`(${columns.join(', ')})`, `(${values.join(', ')})`];
  return `${left} >= ${right} and ${left} <= ${right}`;
}

/** Returns a condition that rows found by their id belong to the account and mode. */
export function ofTenant(account: string, mode: string, row = ''): string {
  return checked(`${row}account_id = ${account} and ${row}livemode = ${mode}`);
}
