/** A bug in our own code. The request fails with a 500, and no money moves. */
export class Bug extends Error {
  override name = 'Bug';
}

/** Throws a {@link Bug} if `condition` is false. Never use it for input from a client. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/** Makes a missing case of a union a compile error, and throws on a corrupt value. */
export function assertNever(value: never): never {
  throw new Bug(`unexpected value: ${JSON.stringify(value)}`);
}

/** Returns the value, which our own code guarantees to exist. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, `missing: ${what}`);
  return value;
}

/** Returns the only element, which a statement guarantees to return. */
export function only<T>(rows: readonly T[], what: string): T {
  assert(rows.length === 1, `expected one ${what}, got ${rows.length}`);
  return present(rows[0], what);
}
