import { apiKeyInvalid, readBearer } from '#accounts/authenticate-api-key.ts';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { deviceKeyRevoked } from '#accounts/recheck-credentials.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import type { Tenant } from '#core/mode.ts';
import { RecentMap } from '#core/size-limited-map.ts';
import { createBatcher } from '#db/batching.ts';
import type { Database } from '#db/database.ts';
import { CURRENT_API_VERSION } from '#events/append-events.ts';
import {
  type DeviceMerchantRow,
  selectDeviceMerchant,
  updateLastSeen,
} from '#terminals/terminal-queries.ts';

/**
 * The caller of the terminal protocol: a device that is bound to its terminal, and so to the
 * terminal's network.
 */
export interface DeviceCaller {
  readonly tenant: Tenant;
  readonly terminalId: string;
  readonly active: boolean;
  readonly merchant: MerchantAccount;
  readonly rateKey: string;
  /**
   * The terminal's ID, so that its idempotency keys never collide with those of other terminals or
   * of API keys.
   */
  readonly idempotencySpace: string;
  readonly scopes: null;
  readonly apiVersion: string;
}

/**
 * Lifetime of a cached key row, for reads only, so that a revocation takes effect within a second.
 */
const CACHE_MS = 750;
/** Maximum number of cached keys. Other keys are read from the database each time. */
const CACHE_SIZE = 10_000;
/** The precision of `last_seen_at`, because recording each poll would cost a write. */
const LAST_SEEN_EVERY_MS = 10_000;
/** Number of terminals that one statement records as seen. */
const LAST_SEEN_BATCH = 500;

export function decideDevice(
  row: DeviceMerchantRow | undefined,
  now: Date,
): DeviceCaller | Refusal {
  if (row === undefined) return apiKeyInvalid();
  if (row.revoked_at !== null && row.revoked_at <= now) {
    return deviceKeyRevoked();
  }
  if (row.account_status === 'disabled') {
    return refuse('account_disabled', 'The account is disabled. Contact the network operator.');
  }
  const tenant = { accountId: row.account_id, livemode: row.livemode };
  return {
    tenant,
    terminalId: row.terminal_id,
    active: row.terminal_status === 'active',
    merchant: {
      tenant,
      name: row.account_name,
      kybApproved: row.kyb_status === 'approved',
      merchantNumber: row.merchant_number,
      keyHash: row.hash,
    },
    rateKey: row.terminal_id,
    idempotencySpace: row.terminal_id,
    scopes: null,
    apiVersion: CURRENT_API_VERSION,
  };
}

/** Records when terminals were last seen, at intervals and with many terminals per statement. */
function createLastSeen(db: Database) {
  const noted = new RecentMap<number>(CACHE_SIZE);
  const writer = createBatcher<{ id: string; now: Date }, undefined>({
    run: async (seen) => {
      const latest = new Date(Math.max(...seen.map(({ now }) => now.getTime())));
      await updateLastSeen(db, [...new Set(seen.map(({ id }) => id))].sort(), latest);
      return seen.map(() => undefined);
    },
    maxInFlight: 1,
    maxItems: LAST_SEEN_BATCH,
  });
  return (id: string, now: Date) => {
    if ((noted.get(id) ?? 0) > now.getTime() - LAST_SEEN_EVERY_MS) return;
    noted.set(id, now.getTime());
    // If the database is unreachable, the device's next request is recorded instead.
    writer.add({ id, now }).catch(() => noted.delete(id));
  };
}

interface Cached {
  readonly readAt: number;
  readonly row: Promise<DeviceMerchantRow | undefined>;
}

/** Authenticates device keys, with a cache that is never older than {@link CACHE_MS}. */
export function createDeviceAuthenticator(db: Database) {
  const cache = new RecentMap<Cached>(CACHE_SIZE);
  const noteSeen = createLastSeen(db);

  const find = (secret: string, mustStand: boolean) => {
    const known = cache.get(secret);
    if (!mustStand && known !== undefined && performance.now() - known.readAt < CACHE_MS)
      return known.row;
    const row = selectDeviceMerchant(db, hashSecret(secret));
    row.catch(() => cache.delete(secret));
    cache.set(secret, { readAt: performance.now(), row });
    return row;
  };
  return async (request: {
    readonly authorization: string | undefined;
    readonly now: Date;
    readonly mustStand: boolean;
  }): Promise<DeviceCaller | Refusal> => {
    const secret = readBearer(request.authorization);
    if (isRefusal(secret)) return secret;
    const isDeviceKey = isSecret('deviceKeyTest', secret) || isSecret('deviceKeyLive', secret);
    if (!isDeviceKey) return apiKeyInvalid();
    const caller = decideDevice(await find(secret, request.mustStand), request.now);
    if (!isRefusal(caller)) noteSeen(caller.terminalId, request.now);
    return caller;
  };
}
