import { API_VERSIONS } from '#core/api-versions.ts';
import type { Tenant } from '#core/mode.ts';
import { addressKey } from '#http/rate-limit.ts';

/** A caller without a key or session. Only the IP address is known. */
export interface Visitor {
  readonly tenant: Tenant;
  readonly address: string;
  readonly rateKey: string;
  readonly idempotencySpace: string;
  readonly scopes: null;
  readonly apiVersion: string;
}

const NOBODY: Tenant = { accountId: '', livemode: false };

export function visitor(address: string): Visitor {
  return {
    tenant: NOBODY,
    address,
    rateKey: addressKey(address),
    idempotencySpace: '',
    scopes: null,
    apiVersion: API_VERSIONS.latest,
  };
}
