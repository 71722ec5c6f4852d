/** A broken promise of our own code. The request dies with a 500; the money does not move. */
export class Bug extends Error {
  override name = 'Bug';
}

/** Throws a {@link Bug} when `condition` does not hold. Never use it for what a client may send. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/** Makes a forgotten case of a union a compile error, and a corrupt value a loud one. */
export function assertNever(value: never): never {
  throw new Bug(`unexpected value: ${JSON.stringify(value)}`);
}

/** The value, which our own code has promised to be there. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, `missing: ${what}`);
  return value;
}

/** The one element that a statement promised to return. */
export function only<T>(rows: readonly T[], what: string): T {
  assert(rows.length === 1, `expected one ${what}, got ${rows.length}`);
  return present(rows[0], what);
}
