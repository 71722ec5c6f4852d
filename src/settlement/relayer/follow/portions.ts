/**
 * Requests whose outcomes are written down together: the payments domain goes on with the first
 * portion while the next one is read. They grow, because the first should not wait for the last,
 * but each portion is a transaction here and one there.
 */
export const FIRST_PORTION = 64;
const PORTION_GROWTH = 2;

/**
 * Divides chain transactions, in their order, by the number of their requests. None of them is
 * divided itself: a portion ends where it comes closest to its size.
 */
export function inPortions<T>(all: readonly T[], sizeOf: (one: T) => number): T[][] {
  let portion: T[] = [];
  const portions = [portion];
  let limit = FIRST_PORTION;
  let size = 0;
  for (const one of all) {
    const next = size + sizeOf(one);
    if (size > 0 && next - limit > limit - size) {
      portion = [];
      portions.push(portion);
      size = 0;
      limit *= PORTION_GROWTH;
    }
    portion.push(one);
    size += sizeOf(one);
  }
  return portions;
}
