import type pg from 'pg';
import { assert } from '#core/assert.ts';
import { unknownCommits } from '#core/meters.ts';

/** The database could not be reached, or gave up before the commit: nothing was done. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** The connection broke while committing: only a later read can tell what happened. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/**
 * SQLSTATE classes and codes that mean "not now" rather than "wrong": connections that broke, or
 * were refused at the door (28, 3D000: credentials or the database are being changed), a server
 * that has become a replica (25006) or runs out of something, and whatever took too long. Also a
 * connection that has not prepared what we think it has (26000): a call before this one was to
 * prepare it, and was canceled.
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

/** The SQLSTATE (or Node's error code) of a fault, or ''. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (UNAVAILABLE.test(code) || UNAVAILABLE_NODE.has(code)) return true;
  const message = error instanceof Error ? error.message : '';
  return /connection (terminated|timeout)|timeout exceeded|Client has encountered/i.test(message);
}

/** A fault of ours stays what it is; one of the connection or the server becomes its own kind. */
export function toFault(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new DatabaseUnavailable('the database cannot be reached', { cause: error });
}

export function commitUnknown(message: string, cause: unknown): CommitUnknown {
  unknownCommits.inc();
  return new CommitUnknown(message, { cause });
}

/** COMMIT answers ROLLBACK when a statement before it has failed. @throws Bug then. */
export function requireCommitted({ command }: { readonly command: string }): void {
  assert(command === 'COMMIT', 'a statement failed unnoticed: the transaction was rolled back');
}

/**
 * Connections on which a commit gave up waiting for its standby. It is on the primary, which
 * gives a warning and answers as if all was well. If that primary is lost, so is the commit:
 * nobody may be told that it was done.
 */
const unreplicated = new WeakSet<object>();
/** The function of PostgreSQL that warns; the warning's words depend on the server's language. */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

export function hearWarnings(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === WAITS_FOR_STANDBY) unreplicated.add(client);
  });
}

/** After a statement that commits. */
export function requireReplicated(client: pg.ClientBase): void {
  if (!unreplicated.has(client)) return;
  throw commitUnknown('the commit was not confirmed by a standby', null);
}
