/**
 * The contract's numbers have 64 bits and no sign, `bigint` columns have one. From 2^63 on a column
 * holds the number less 2^64. No number of ours is that high, but whoever holds one of our keys can
 * settle under any, and what cannot be stored could be neither compared nor reported.
 */

export function toNumberColumn(number: bigint): bigint {
  return BigInt.asIntN(64, number);
}

export function fromNumberColumn(column: bigint): bigint {
  return BigInt.asUintN(64, column);
}

/** Rows as they are, with the number that the contract knows. */
export function withChainNumbers<Row extends { readonly number: bigint }>(
  rows: readonly Row[],
): Row[] {
  return rows.map((row) => ({ ...row, number: fromNumberColumn(row.number) }));
}

const RANGE = '18446744073709551616';

/** The SQL of the contract's number as text, of a column. */
export function numberText(column: string): string {
  return `(${column} + case when ${column} < 0 then ${RANGE} else 0 end)::text`;
}

/** The SQL of a column's value, of the contract's number as text. */
export function columnOfText(text: string): string {
  return `(${text}::numeric
    - case when ${text}::numeric >= 9223372036854775808 then ${RANGE} else 0 end)::bigint`;
}
