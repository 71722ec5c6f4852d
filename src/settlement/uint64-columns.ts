/**
 * Converts a contract's number to the form in which columns store it. The contract's numbers are
 * unsigned 64-bit integers, but `bigint` columns are signed, so numbers from 2^63 on are stored
 * minus 2^64. The service never assigns such numbers, but a thief of its keys can settle under any
 * number, and a number that cannot be stored could be neither compared nor reported.
 */

export function toNumberColumn(number: bigint): bigint {
  return BigInt.asIntN(64, number);
}

export function fromNumberColumn(column: bigint): bigint {
  return BigInt.asUintN(64, column);
}

/** Returns the rows with the numbers converted from the column's form to the contract's. */
export function withChainNumbers<Row extends { readonly number: bigint }>(
  rows: readonly Row[],
): Row[] {
  return rows.map((row) => ({ ...row, number: fromNumberColumn(row.number) }));
}

const RANGE = '18446744073709551616';

/** SQL: the contract's number in a column, as text. */
export function numberText(column: string): string {
  return `(${column} + case when ${column} < 0 then ${RANGE} else 0 end)::text`;
}

/** SQL: converts the contract's number, given as text, to the column's value. */
export function columnOfText(text: string): string {
  return `(${text}::numeric
    - case when ${text}::numeric >= 9223372036854775808 then ${RANGE} else 0 end)::bigint`;
}
