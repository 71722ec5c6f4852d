import type { Tenant } from '#core/mode.ts';
import { CURRENT_API_VERSION } from '#events/append-events.ts';
import { addressKey } from '#http/rate-limit.ts';

/** Anyone with the link: paying needs no sign-in. */
export interface PayCaller {
  readonly tenant: Tenant;
  /** The IP address. */
  readonly address: string;
  readonly rateKey: string;
  readonly idempotencySpace: string;
  readonly scopes: null;
  readonly apiVersion: string;
}

const NOBODY: Tenant = { accountId: '', livemode: false };

export function visitor(address: string): PayCaller {
  return {
    tenant: NOBODY,
    address,
    rateKey: addressKey(address),
    idempotencySpace: '',
    scopes: null,
    apiVersion: CURRENT_API_VERSION,
  };
}
