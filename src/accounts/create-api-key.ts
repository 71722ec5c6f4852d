import { lockOwnAccount } from '#accounts/account-queries.ts';
import { type ApiKeyRow, apiKeys, countUsableApiKeys } from '#accounts/api-key-queries.ts';
import type { Scope } from '#accounts/api-key-scopes.ts';
import { type Actor, actorId } from '#audit/audit.ts';
import { recordTenantChange } from '#audit/record-change.ts';
import { readRange, whyRefused } from '#core/address-ranges.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { readName } from '#core/name-rules.ts';
import type { Tx } from '#db/database.ts';
import { CURRENT_API_VERSION } from '#events/append-events.ts';

/**
 * Maximum number of usable keys. One per system is recommended; this allows for many systems and
 * limits the effect of mistakes.
 */
export const MAX_USABLE_KEYS = 100;

export interface ApiKeyInput {
  readonly tenant: Tenant;
  readonly name: string;
  /** Scopes of behavior.md 3.5, already checked by the route. */
  readonly scopes: readonly Scope[];
  /** Addresses and CIDR ranges of both families; empty allows every address. */
  readonly ipAllowlist: readonly string[];
  readonly expiresAt: Date | null;
  readonly actor: Actor;
  readonly now: Date;
}

/** A credential's row, with its secret, which is shown only once. */
export interface Issued<Row> {
  readonly row: Row;
  readonly secret: string;
}

export function kybRequired(what: string): Refusal {
  return refuse(
    'kyb_required',
    `${what} require an approved business verification. Submit it in the dashboard. Test ` +
      'mode needs none.',
  );
}

/** Returns addresses and ranges, each in its normal form. */
export function readAllowlist(entries: readonly string[]): readonly string[] | Refusal {
  const ranges = new Set<string>();
  for (const [n, entry] of entries.entries()) {
    const read = readRange(entry);
    if ('meant' in read) {
      const param = `ip_allowlist.${n}`;
      return refuse('parameter_invalid', `${param} ${whyRefused(read.meant)}.`, param);
    }
    ranges.add(read.range);
  }
  return [...ranges];
}

export function checkExpiry(expiresAt: Date | null, now: Date): Refusal | null {
  if (expiresAt === null || expiresAt > now) return null;
  return refuse('parameter_invalid', 'expires_at must be in the future.', 'expires_at');
}

/** The caller has made all checks. */
export async function issueApiKey(
  tx: Tx,
  input: ApiKeyInput & { readonly rotatedFrom: string | null },
): Promise<Issued<ApiKeyRow>> {
  const { tenant, now } = input;
  const secret = newSecret(tenant.livemode ? 'apiKeyLive' : 'apiKeyTest', tx.cell);
  const row = await apiKeys.insert(tx, {
    id: newId('apiKey', now),
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    hash: hashSecret(secret),
    hint: `${secret.slice(0, 'tlsk_test_'.length)}…${secret.slice(-4)}`,
    name: input.name,
    scopes: input.scopes,
    ip_allowlist: input.ipAllowlist,
    api_version: CURRENT_API_VERSION,
    created_by: actorId(input.actor),
    expires_at: input.expiresAt,
    rotated_from: input.rotatedFrom,
    created: now,
  });
  return { row, secret };
}

export function auditedKey(row: ApiKeyRow): { readonly [key: string]: Json } {
  return {
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    ip_allowlist: row.ip_allowlist,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/**
 * Creates a secret key for one mode, pinned to the latest API version. The secret is returned only
 * here. Refuses a live key without approved KYB (behavior.md 1.6), and more keys than the limit.
 */
export async function createApiKey(
  tx: Tx,
  input: ApiKeyInput,
): Promise<Issued<ApiKeyRow> | Refusal> {
  const { tenant, now } = input;
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const ipAllowlist = readAllowlist(input.ipAllowlist);
  if (isRefusal(ipAllowlist)) return ipAllowlist;
  const expired = checkExpiry(input.expiresAt, now);
  if (expired !== null) return expired;
  const account = await lockOwnAccount(tx, tenant.accountId);
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live keys');
  if ((await countUsableApiKeys(tx, tenant, now)) >= MAX_USABLE_KEYS) {
    return refuse(
      'unexpected_state',
      `An account can have at most ${MAX_USABLE_KEYS} usable keys per mode. Revoke one first.`,
    );
  }
  const issued = await issueApiKey(tx, { ...input, name, ipAllowlist, rotatedFrom: null });
  await recordTenantChange(tx, input, {
    action: 'api_key.created',
    objectId: issued.row.id,
    after: auditedKey(issued.row),
  });
  return issued;
}
