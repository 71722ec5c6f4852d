import { selectAccount } from '#accounts/account-queries.ts';
import { type ApiKeyRow, lockApiKey, updateApiKey } from '#accounts/api-key-queries.ts';
import type { Scope } from '#accounts/api-key-scopes.ts';
import {
  auditedKey,
  checkExpiry,
  type Issued,
  issueApiKey,
  kybRequired,
  readAllowlist,
} from '#accounts/create-api-key.ts';
import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { readName } from '#core/name-rules.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Tx } from '#db/database.ts';

/** Maximum overlap: enough to roll out a new key over a weekend. */
export const MAX_OVERLAP_SECONDS = 7 * 24 * 3600;

interface KeyRef extends TenantRef {
  readonly id: string;
}

async function findUsable(tx: Tx, ref: KeyRef): Promise<ApiKeyRow | Refusal> {
  const row = await lockApiKey(tx, ref.tenant, ref.id);
  if (row === undefined) return resourceMissing('API key');
  const isOver = row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= ref.now);
  if (isOver)
    return refuse(
      'unexpected_state',
      'This key was revoked or has expired, so it cannot be changed.',
    );
  return row;
}

async function recordKey(
  tx: Tx,
  ref: KeyRef,
  change: { readonly action: string; readonly before: ApiKeyRow; readonly after: ApiKeyRow },
): Promise<void> {
  await recordTenantChange(tx, ref, {
    action: change.action,
    objectId: change.after.id,
    before: auditedKey(change.before),
    after: auditedKey(change.after),
  });
}

async function saveKey(
  tx: Tx,
  row: ApiKeyRow,
  change: {
    readonly name?: string;
    readonly scopes?: readonly Scope[];
    readonly ipAllowlist?: readonly string[];
    readonly expiresAt?: Date | null;
    readonly revokedAt?: Date;
  },
): Promise<ApiKeyRow> {
  const rows = await updateApiKey(tx, row.id, {
    name: change.name ?? row.name,
    scopes: change.scopes ?? row.scopes,
    ip_allowlist: change.ipAllowlist ?? row.ip_allowlist,
    expires_at: change.expiresAt === undefined ? row.expires_at : change.expiresAt,
    revoked_at: change.revokedAt ?? row.revoked_at,
  });
  return only(rows, 'key');
}

/** Changes the name, scopes, allowlist or expiry of a usable key. */
export async function editApiKey(
  tx: Tx,
  ref: KeyRef,
  edit: {
    readonly version: number;
    readonly name?: string;
    readonly scopes?: readonly Scope[];
    readonly ipAllowlist?: readonly string[];
    readonly expiresAt?: Date | null;
  },
): Promise<ApiKeyRow | Refusal> {
  const before = await findUsable(tx, ref);
  if (isRefusal(before)) return before;
  if (before.version !== edit.version) return staleVersion(before.version);
  const name = edit.name === undefined ? before.name : readName(edit.name, 'name');
  if (isRefusal(name)) return name;
  const ipAllowlist = readAllowlist(edit.ipAllowlist ?? before.ip_allowlist);
  if (isRefusal(ipAllowlist)) return ipAllowlist;
  const expired = checkExpiry(edit.expiresAt ?? null, ref.now);
  if (expired !== null) return expired;
  const { version: _version, ...rest } = edit;
  const after = await saveKey(tx, before, { ...rest, name, ipAllowlist });
  await recordKey(tx, ref, { action: 'api_key.updated', before, after });
  return after;
}

/**
 * Creates a new key with the same rights; the old key works for `overlapSeconds` and then expires.
 * Idempotency keys are not affected, because they belong to the account and mode.
 */
export async function rotateApiKey(
  tx: Tx,
  ref: KeyRef,
  overlapSeconds: number,
): Promise<(Issued<ApiKeyRow> & { readonly old: ApiKeyRow }) | Refusal> {
  const before = await findUsable(tx, ref);
  if (isRefusal(before)) return before;
  if (ref.tenant.livemode) {
    const account = await selectAccount(tx, ref.tenant.accountId);
    if (account?.kyb_status !== 'approved') return kybRequired('Live keys');
  }
  const overlapEnd = addSeconds(ref.now, overlapSeconds);
  const endsSooner = before.expires_at !== null && before.expires_at < overlapEnd;
  const old = await saveKey(
    tx,
    before,
    overlapSeconds === 0
      ? { revokedAt: ref.now }
      : { expiresAt: endsSooner ? before.expires_at : overlapEnd },
  );
  const issued = await issueApiKey(tx, {
    tenant: ref.tenant,
    name: before.name,
    scopes: before.scopes,
    ipAllowlist: before.ip_allowlist,
    expiresAt: before.expires_at,
    actor: ref.actor,
    now: ref.now,
    rotatedFrom: before.id,
  });
  await recordKey(tx, ref, { action: 'api_key.rotated', before: old, after: issued.row });
  return { ...issued, old };
}

/** Revokes a key, which stops working within a second on every node. */
export async function revokeApiKey(tx: Tx, ref: KeyRef): Promise<ApiKeyRow | Refusal> {
  const before = await lockApiKey(tx, ref.tenant, ref.id);
  if (before === undefined) return resourceMissing('API key');
  if (before.revoked_at !== null) return before;
  const after = await saveKey(tx, before, { revokedAt: ref.now });
  await recordKey(tx, ref, { action: 'api_key.revoked', before, after });
  return after;
}
