/**
 * Forms of conditions that leave the planner one index to choose (docs/decisions/plans.md). A plan
 * is made once per connection, often while a table is nearly empty: all indexes cost the same then,
 * and the one that was chosen is read as a whole when the table has grown.
 */

/**
 * A condition on rows that are found by something else. The planner cannot use it for an index: an
 * index that begins with one of its columns would otherwise seem as good as the right one.
 */
export function checked(condition: string): string {
  return `case when ${condition} then true end`;
}

/**
 * Looks up the one row with this key. A comparison of rows is served only by an index that begins
 * with the first of the columns: no other index of the table may.
 */
export function wholeKey(columns: readonly string[], values: readonly string[]): string {
  if (columns.length === 1) return `${columns[0]} = ${values[0]}`;
  const [left, right] = [`(${columns.join(', ')})`, `(${values.join(', ')})`];
  return `${left} >= ${right} and ${left} <= ${right}`;
}

/** The same for rows that are found by their id: they are the account and mode's. */
export function ofTenant(account: string, mode: string, row = ''): string {
  return checked(`${row}account_id = ${account} and ${row}livemode = ${mode}`);
}
