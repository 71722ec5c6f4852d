import { createHash } from 'node:crypto';
import { type AuditRow, insertAudit, lockChain, selectHead } from '#audit/audit-queries.ts';
import { canonicalJson, type Json } from '#core/canonical-json.ts';
import type { Tx } from '#db/database.ts';

/** Who changes something, for the audit log. */
export type Actor =
  | {
      readonly type: 'user';
      readonly userId: string;
      readonly email: string;
      readonly requestId: string;
      readonly address: string;
    }
  | {
      readonly type: 'operator';
      readonly userId: string;
      readonly email: string;
      readonly requestId: string;
      readonly address: string;
    }
  | {
      /** A command or a worker of the service itself: `admin command`, `demo data`, … */
      readonly type: 'system';
      readonly name: string;
    };

/** The short name that other rows keep of who did it: a user's id, or the system's part. */
export function actorId(actor: Actor): string {
  return actor.type === 'system' ? actor.name : actor.userId;
}

/** What the network's staff changes about the network itself. */
export const NETWORK_CHAIN = 'network';

/** The hash that stands before the first entry of a chain. */
export const GENESIS = Buffer.alloc(32);

type Values = { readonly [key: string]: Json };

export interface Change {
  /** The account that it is about, or {@link NETWORK_CHAIN}. */
  readonly chain: string;
  readonly actor: Actor;
  /** Object and verb: `api_key.created`. */
  readonly action: string;
  readonly objectId: string;
  /** null: both modes, or none. */
  readonly livemode: boolean | null;
  /** The changed fields before and after; never a secret or its hash. */
  readonly before: Values | null;
  readonly after: Values | null;
  readonly now: Date;
}

/** The hash of one entry: everything that it says, and the hash of the entry before. */
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

function whoIs(actor: Actor): Json {
  if (actor.type === 'system') return { type: 'system', name: actor.name };
  return { type: actor.type, user: actor.userId, email: actor.email };
}

/**
 * Adds an entry in the transaction that makes the change. It takes the chain's lock, held until
 * the commit: call it last in the transaction, after the account's order row, for one chain only.
 */
export async function recordChange(tx: Tx, change: Change): Promise<void> {
  await lockChain(tx, change.chain);
  const head = await selectHead(tx, change.chain);
  const { actor } = change;
  const row = {
    chain: change.chain,
    sequence: (head?.sequence ?? 0n) + 1n,
    created: change.now,
    actor: whoIs(actor),
    action: change.action,
    object_id: change.objectId,
    livemode: change.livemode,
    before: change.before as Json,
    after: change.after as Json,
    request_id: actor.type === 'system' ? null : actor.requestId,
    address: actor.type === 'system' ? null : actor.address,
    previous_hash: head?.hash ?? GENESIS,
  };
  await insertAudit(tx, { ...row, hash: entryHash(row) });
}
