import type { Scope } from '#accounts/scopes.ts';
import type { ResponseHeaders } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';

/** What of an account decides over its payments in one mode. At most a second old. */
export interface MerchantStanding {
  readonly tenant: Tenant;
  readonly name: string;
  readonly kybApproved: boolean;
  /** The merchant on the settlement contract of the mode's network; null before go-live. */
  readonly merchantNumber: bigint | null;
  /** The API key or device key that the request came with; null: a person's session. */
  readonly keyHash: Buffer | null;
}

/** Who calls the merchant API. */
export interface MerchantCaller {
  readonly tenant: Tenant;
  readonly keyId: string;
  readonly rateKey: string;
  readonly idempotencySpace: '';
  readonly scopes: readonly Scope[];
  readonly apiVersion: string;
  /** Where the request came from, for callers that have to check the key's allowlist again. */
  readonly address: string;
  readonly standing: MerchantStanding;
  /** `Test-Clock`, while the clock of the account's test mode is ahead. */
  readonly responseHeaders?: ResponseHeaders;
}
