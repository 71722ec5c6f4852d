/**
 * Converts a number for its column. The contract's numbers are unsigned 64-bit integers, while
 * `bigint` columns are signed, so a column holds numbers from 2^63 on minus 2^64. The service never
 * issues such numbers, but a thief of its keys can settle under any number, and one that cannot be
 * stored could be neither compared nor reported.
 */

export function toNumberColumn(number: bigint): bigint {
  return BigInt.asIntN(64, number);
}

export function fromNumberColumn(column: bigint): bigint {
  return BigInt.asUintN(64, column);
}

/** Returns the same rows with numbers as the contract has them. */
export function withChainNumbers<Row extends { readonly number: bigint }>(
  rows: readonly Row[],
): Row[] {
  return rows.map((row) => ({ ...row, number: fromNumberColumn(row.number) }));
}

const RANGE = '18446744073709551616';

/** SQL: a column's number as text. */
export function numberText(column: string): string {
  return `(${column} + case when ${column} < 0 then ${RANGE} else 0 end)::text`;
}

/** SQL: a number given as text, converted to a column's value. */
export function columnOfText(text: string): string {
  return `(${text}::numeric
    - case when ${text}::numeric >= 9223372036854775808 then ${RANGE} else 0 end)::bigint`;
}
