/**
 * An item with its position in the catalog. The service moves items in the same way
 * (src/accounts/edit-catalogue.ts).
 */

interface Placed {
  readonly id: string;
  readonly position: number;
}

/** Returns the position with which an item lands at this index. `others` is the list without it. */
export function positionAt(others: readonly Placed[], index: number): number {
  return others[index]?.position ?? (others.at(-1)?.position ?? 0) + 1;
}

/** Returns the list after the service has stored an item at its position. */
export function withMoved<Item extends Placed>(items: readonly Item[], moved: Item): Item[] {
  const others = items.filter(({ id }) => id !== moved.id);
  const isTaken = others.some(({ position }) => position === moved.position);
  const pushed = others.map((item) =>
    isTaken && item.position >= moved.position ? { ...item, position: item.position + 1 } : item,
  );
  return [...pushed, moved].sort((one, other) => one.position - other.position);
}
