/**
 * Ways to write conditions that leave the planner a single index (docs/decisions/plans.md). A plan
 * is made once per connection, often while a table is nearly empty. All indexes then cost the same,
 * and if the planner picks the wrong one, statements scan all of it once the table has grown.
 */

/**
 * Returns a condition that filters rows but cannot find them. Otherwise, an index that begins with
 * one of its columns could look as good to the planner as the right index.
 */
export function checked(condition: string): string {
  return `case when ${condition} then true end`;
}

/**
 * Returns a condition that looks up the row with this key. Only an index that begins with the first
 * of the columns can serve a row comparison, so no other index of the table may begin with that
 * column.
 */
export function wholeKey(columns: readonly string[], values: readonly string[]): string {
  if (columns.length === 1) return `${columns[0]} = ${values[0]}`;
  const [left, right] = [`(${columns.join(', ')})`, `(${values.join(', ')})`];
  return `${left} >= ${right} and ${left} <= ${right}`;
}

/** Returns a condition that checks the account and mode of rows that are found by their id. */
export function ofTenant(account: string, mode: string, row = ''): string {
  return checked(`${row}account_id = ${account} and ${row}livemode = ${mode}`);
}
