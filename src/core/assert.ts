/** Signals a bug in our own code. The request fails with status 500, and no money moves. */
export class Bug extends Error {
  override name = 'Bug';
}

/** Throws a {@link Bug} if `condition` is false. Never use it for input from a client. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/**
 * Makes a missing case of a union a compile error. Throws if corrupt data reaches it at run time.
 */
export function assertNever(value: never): never {
  throw new Bug(`unexpected value: ${JSON.stringify(value)}`);
}

/** Returns a value that our own code guarantees to exist; throws otherwise. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, `missing: ${what}`);
  return value;
}

/** Returns the only row of a statement that must return exactly one; throws otherwise. */
export function only<T>(rows: readonly T[], what: string): T {
  assert(rows.length === 1, `expected one ${what}, got ${rows.length}`);
  return present(rows[0], what);
}
