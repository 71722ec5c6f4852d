/**
 * A cell is a complete network: a database with its processes, senders and contracts. Once a cell
 * is full, another one runs beside it (docs/scale.md). A cell's number is one digit. It is the
 * first character, after any prefix, of everything that must be routed to the cell: keys, passes,
 * numbered ids, links.
 */
export const HIGHEST_CELL = 9;

/** The cell of all objects created before ids contained cell digits. */
export const FIRST_CELL = 0;

/** Parses a cell digit; returns null for any other character. */
export function cellOfDigit(digit: string): number | null {
  return /^[0-9]$/.test(digit) ? Number(digit) : null;
}
