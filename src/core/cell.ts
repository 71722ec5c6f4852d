/**
 * A cell is a complete network: a database with its processes, senders and contracts. Several cells
 * run side by side once one is full (docs/scale.md). The cell's number is one digit, and the first
 * character of everything that must be routed to it: keys, passes, numbered ids, links.
 */
export const HIGHEST_CELL = 9;

/** The cell of all objects created before ids contained cell digits. */
export const FIRST_CELL = 0;

/** Returns the cell of a cell digit; null if it is not one. */
export function cellOfDigit(digit: string): number | null {
  return /^[0-9]$/.test(digit) ? Number(digit) : null;
}
