import { createHash } from 'node:crypto';
import { type AuditRow, auditEntries, lockAuditLog, selectHead } from '#audit/audit-queries.ts';
import { canonicalJson, type Json } from '#core/canonical-json.ts';
import type { Tx } from '#db/database.ts';
import { redactJson, redactOwn } from '#observability/redact.ts';

/**
 * Called in the transaction of a user's change, for example to queue a mail about it, so that
 * either both commit or neither.
 */
export type EntryListener = (tx: Tx, entry: Entry) => Promise<void>;

export type Actor =
  | {
      readonly type: 'user' | 'operator';
      readonly userId: string;
      readonly email: string;
      readonly requestId: string;
      readonly address: string;
      readonly onEntry?: EntryListener | null;
    }
  | {
      /** A command or a worker of the service, such as `admin command` or `demo data`. */
      readonly type: 'system';
      readonly name: string;
    };

/**
 * Returns the actor's short name, as other rows store it: a user's ID, or the name of a part of the
 * service.
 */
export function actorId(actor: Actor): string {
  return actor.type === 'system' ? actor.name : actor.userId;
}

/** The audit log of changes that the network's staff make to the network itself. */
export const NETWORK_AUDIT_LOG = 'network';

/** The hash before a log's first entry. */
export const GENESIS = Buffer.alloc(32);

type Values = { readonly [key: string]: Json };

export interface Entry {
  /**
   * The account to which the entry belongs, or {@link NETWORK_AUDIT_LOG}. The column is called
   * `chain`.
   */
  readonly auditLog: string;
  readonly actor: Actor;
  /** Object and verb: `api_key.created`. */
  readonly action: string;
  readonly objectId: string;
  /** `null` if the change affects both modes, or none. */
  readonly livemode: boolean | null;
  /**
   * The changed fields before and after; never a secret or its hash. Users may type a secret by
   * mistake, so anything that looks like one is masked.
   */
  readonly before: Values | null;
  readonly after: Values | null;
  /** A sentence for the listener, for example for the mail to owners. The log does not store it. */
  readonly detail?: string;
  readonly now: Date;
}

/** Computes an entry's hash from its content and the previous entry's hash. */
export function entryHash(row: Omit<AuditRow, 'hash'>): Buffer {
  const content: Json = {
    chain: row.chain,
    sequence: row.sequence.toString(),
    created: row.created.toISOString(),
    actor: row.actor,
    action: row.action,
    object_id: row.object_id,
    livemode: row.livemode,
    before: row.before,
    after: row.after,
    request_id: row.request_id,
    address: row.address,
  };
  return createHash('sha256').update(row.previous_hash).update(canonicalJson(content)).digest();
}

function whoIs(actor: Actor): Exclude<Json, null> {
  if (actor.type === 'system') return { type: 'system', name: actor.name };
  return { type: actor.type, user: actor.userId, email: actor.email };
}

/**
 * Adds an entry in the transaction of the change. Holds the log's lock until the commit. So call it
 * last, after locking the account's order, and for one log only.
 */
export async function recordEntry(tx: Tx, entry: Entry): Promise<void> {
  const { actor } = entry;
  // Call the listener before taking the lock, because all changes to the account wait for the lock.
  if (actor.type !== 'system') await actor.onEntry?.(tx, entry);
  await lockAuditLog(tx, entry.auditLog);
  const head = await selectHead(tx, entry.auditLog);
  const row = {
    chain: entry.auditLog,
    sequence: (head?.sequence ?? 0n) + 1n,
    created: entry.now,
    actor: whoIs(actor),
    action: entry.action,
    object_id: redactOwn(entry.objectId),
    livemode: entry.livemode,
    before: redactJson(entry.before),
    after: redactJson(entry.after),
    request_id: actor.type === 'system' ? null : actor.requestId,
    address: actor.type === 'system' ? null : actor.address,
    previous_hash: head?.hash ?? GENESIS,
  };
  await auditEntries.insert(tx, { ...row, hash: entryHash(row) });
}
