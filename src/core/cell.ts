/**
 * A cell is a whole network: a database with its processes, senders and contracts. Several stand
 * beside each other where one is full (docs/scale.md). Its number is one digit, and the first
 * character of whatever has to be brought to it: keys, passes, numbered ids, links.
 */
export const HIGHEST_CELL = 9;

/** The cell of everything that was made before there were marks. */
export const FIRST_CELL = 0;

/** The cell that a mark names; null: it is no mark. */
export function cellOfMark(mark: string): number | null {
  return /^[0-9]$/.test(mark) ? Number(mark) : null;
}
