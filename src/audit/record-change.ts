import { type Actor, type Entry, recordEntry } from '#audit/audit.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';

export interface AccountRef {
  readonly accountId: string;
  readonly actor: Actor;
  readonly now: Date;
}

export interface TenantRef {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
}

/**
 * By default, the entry has no fields before and after the change. `detail` is a sentence for the
 * owners' mail.
 */
export interface TenantChange extends Pick<Entry, 'action' | 'objectId' | 'detail'> {
  readonly before?: Entry['before'];
  readonly after?: Entry['after'];
}

/** Records a change of the account, or of an object that it has in both modes. */
export function recordAccountChange(
  tx: Tx,
  { accountId, actor, now }: AccountRef,
  change: Omit<TenantChange, 'objectId'> & { readonly objectId?: string },
): Promise<void> {
  const about = { auditLog: accountId, objectId: accountId, livemode: null };
  return recordEntry(tx, { ...about, before: null, after: null, ...change, actor, now });
}

/** Records a change of an object that the account has in one mode. */
export function recordTenantChange(
  tx: Tx,
  { tenant, actor, now }: TenantRef,
  change: TenantChange,
): Promise<void> {
  const about = { auditLog: tenant.accountId, livemode: tenant.livemode };
  return recordEntry(tx, { ...about, before: null, after: null, ...change, actor, now });
}
