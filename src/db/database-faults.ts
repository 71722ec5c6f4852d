import type pg from 'pg';
import { assert } from '#core/assert.ts';
import { unknownCommits } from '#observability/process-metrics.ts';

/** The database was unreachable or failed before the commit, so nothing was done. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** The connection broke during the commit. Only a later read can show whether it took effect. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/**
 * Matches SQLSTATE classes and codes that mean "not now" rather than "wrong": connections that
 * broke or were refused (28 and 3D000 occur while the credentials or the database are being
 * changed), a server that is now a replica (25006) or is out of resources, and time-outs. Also a
 * missing prepared statement (26000), because the call that should have prepared it was canceled.
 */
const UNAVAILABLE = /^(08|25006|25P0[34]|26000|28|3D000|53|55P03|57014|57P0[1-5]|58)/;
const UNAVAILABLE_NODE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);

/** Returns an error's SQLSTATE (or Node's error code); an empty string if it has none. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (UNAVAILABLE.test(code) || UNAVAILABLE_NODE.has(code)) return true;
  const message = error instanceof Error ? error.message : '';
  return /connection (terminated|timeout)|timeout (exceeded|expired)|Client has encountered/i.test(
    message,
  );
}

/**
 * Converts errors of the connection or server to our own error classes. Returns our own errors
 * unchanged.
 */
export function toFault(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new DatabaseUnavailable('the database cannot be reached', { cause: error });
}

export function commitUnknown(message: string, cause: unknown): CommitUnknown {
  unknownCommits.inc();
  return new CommitUnknown(message, { cause });
}

/**
 * Checks the response to COMMIT. It is ROLLBACK if an earlier statement has failed.
 * @throws Bug in that case
 */
export function requireCommitted({ command }: { readonly command: string }): void {
  assert(
    command === 'COMMIT',
    'a failed statement was ignored, so the transaction was rolled back',
  );
}

/**
 * Connections on which a commit stopped waiting for its standby. The primary then keeps the commit,
 * warns, and reports success. But if that primary is lost, the commit is lost, so it must not be
 * reported as done.
 */
const unreplicated = new WeakSet<object>();
/**
 * The PostgreSQL function that raises the warning. The warning's text varies with the server's
 * language, so match this instead.
 */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

export function hearWarnings(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === WAITS_FOR_STANDBY) unreplicated.add(client);
  });
}

/**
 * Checks that a standby has confirmed a commit. Call it after each statement that commits.
 * @throws CommitUnknown if none has
 */
export function requireReplicated(client: pg.ClientBase): void {
  if (!unreplicated.has(client)) return;
  throw commitUnknown('the commit was not confirmed by a standby', null);
}
