import ipaddr from 'ipaddr.js';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  type KeyMerchantRow,
  selectKeyMerchants,
  updateLastUsed,
} from '#accounts/merchant-queries.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import { RecentMap } from '#core/size-limited-map.ts';
import { createBatcher } from '#db/batching.ts';
import type { Database } from '#db/database.ts';

/**
 * Lifetime of a cached key row, so that a revocation takes effect everywhere within a second. Only
 * reads rely on this cache; requests that change something check again (`Credentials.mustStand`, or
 * in their transaction).
 */
const CACHE_MS = 750;
/** Maximum number of cached keys. Other keys are read from the database. */
const CACHE_SIZE = 10_000;
/** The precision of `last_used_at`; recording each request would cost a write. */
const LAST_USED_EVERY_MS = 10_000;
/** Batches look-ups: keys that arrive during one statement share the next. */
const TOGETHER = { maxInFlight: 2, maxItems: 100 } as const;

const BEARER = /^Bearer ([\x21-\x7e]+)$/i;

export function readBearer(authorization: string | undefined): string | Refusal {
  if (authorization === undefined) {
    return refuse(
      'api_key_missing',
      'No API key was sent. Send it as Authorization: Bearer <API_KEY>.',
    );
  }
  return BEARER.exec(authorization)?.[1] ?? apiKeyInvalid();
}

export function apiKeyInvalid(): Refusal {
  return refuse(
    'api_key_invalid',
    'This is not a valid key for this API. Copy the whole key, exactly as it was shown ' +
      'when it was created.',
  );
}

export function apiKeyRevoked(): Refusal {
  return refuse('api_key_revoked', 'This key was revoked. Use the key that replaced it.');
}

export function apiKeyExpired(): Refusal {
  return refuse('api_key_expired', 'This key has expired. Create a new one in the dashboard.');
}

function matches(address: string, entry: string): boolean {
  try {
    const client = ipaddr.process(address);
    if (!entry.includes('/')) {
      return ipaddr.process(entry).toNormalizedString() === client.toNormalizedString();
    }
    const [range, bits] = ipaddr.parseCIDR(entry);
    return range.kind() === client.kind() && client.match([range, bits] as never);
  } catch {
    return false;
  }
}

/** Entries are addresses and CIDRs of both families; an empty list allows all. */
export function isAllowedAddress(allowlist: readonly string[], address: string): boolean {
  return allowlist.length === 0 || allowlist.some((entry) => matches(address, entry));
}

/** Returns the header for responses whose times come from a test clock that runs ahead. */
function testClock(now: Date, aheadSeconds: number) {
  const time = new Date(now.getTime() + aheadSeconds * 1000).toISOString();
  return { 'Test-Clock': `${time} (${aheadSeconds} s ahead)` };
}

/** Decides on a key's row, in the order of behavior.md 2.4. */
export function decideKey(
  row: KeyMerchantRow | undefined,
  at: { readonly now: Date; readonly address: string },
): MerchantCaller | Refusal {
  if (row === undefined) return apiKeyInvalid();
  if (row.revoked_at !== null && row.revoked_at <= at.now) {
    return apiKeyRevoked();
  }
  if (row.expires_at !== null && row.expires_at <= at.now) {
    return apiKeyExpired();
  }
  if (row.account_status === 'disabled') {
    return refuse('account_disabled', 'The account is disabled. Contact the network operator.');
  }
  if (!isAllowedAddress(row.ip_allowlist, at.address)) {
    return refuse('ip_not_allowed', "The request's IP address is not on this key's allowlist.");
  }
  const tenant = { accountId: row.account_id, livemode: row.livemode };
  const caller: MerchantCaller = {
    tenant,
    keyId: row.id,
    rateKey: row.id,
    idempotencySpace: '',
    scopes: row.scopes,
    apiVersion: row.api_version,
    address: at.address,
    merchant: {
      tenant,
      name: row.account_name,
      kybApproved: row.kyb_status === 'approved',
      merchantNumber: row.merchant_number,
      keyHash: row.hash,
    },
  };
  const ahead = Number(row.ahead_seconds);
  return ahead === 0 ? caller : { ...caller, responseHeaders: testClock(at.now, ahead) };
}

function isApiKey(secret: string): boolean {
  return isSecret('apiKeyTest', secret) || isSecret('apiKeyLive', secret);
}

interface Use {
  readonly keyId: string;
  readonly now: Date;
}

function latest(uses: readonly Use[]): Date {
  return new Date(Math.max(...uses.map(({ now }) => now.getTime())));
}

interface Cached {
  readonly readAt: number;
  readonly row: Promise<KeyMerchantRow | undefined>;
}

/** Authenticates merchant keys, with a cache that is never older than {@link CACHE_MS}. */
export function createKeyAuthenticator(db: Database) {
  const cache = new RecentMap<Cached>(CACHE_SIZE);
  const used = new RecentMap<number>(CACHE_SIZE);

  const rows = createBatcher<Buffer, KeyMerchantRow | undefined>({
    ...TOGETHER,
    run: async (hashes) => {
      const rows = await selectKeyMerchants(db, hashes);
      return hashes.map((hash) => rows.find((row) => row.hash.equals(hash)));
    },
  });
  const uses = createBatcher<Use, null>({
    ...TOGETHER,
    run: async (used) => {
      const ids = used.map(({ keyId }) => keyId);
      await updateLastUsed(db, ids, latest(used));
      return used.map(() => null);
    },
  });
  const find = (secret: string, mustStand: boolean) => {
    const known = cache.get(secret);
    if (!mustStand && known !== undefined && performance.now() - known.readAt < CACHE_MS)
      return known.row;
    const row = rows.add(hashSecret(secret));
    row.catch(() => cache.delete(secret));
    cache.set(secret, { readAt: performance.now(), row });
    return row;
  };
  const noteUse = (keyId: string, now: Date) => {
    if ((used.get(keyId) ?? 0) > now.getTime() - LAST_USED_EVERY_MS) return;
    used.set(keyId, now.getTime());
    // Ignores a failure: if the database is unreachable, a later use of the key is recorded
    // instead.
    uses.add({ keyId, now }).catch(() => used.delete(keyId));
  };
  return async (request: {
    readonly authorization: string | undefined;
    readonly address: string;
    readonly now: Date;
    readonly mustStand: boolean;
  }): Promise<MerchantCaller | Refusal> => {
    const secret = readBearer(request.authorization);
    if (isRefusal(secret)) return secret;
    if (cache.get(secret) === undefined && !isApiKey(secret)) return apiKeyInvalid();
    const caller = decideKey(await find(secret, request.mustStand), request);
    if (!isRefusal(caller)) noteUse(caller.keyId, request.now);
    return caller;
  };
}
