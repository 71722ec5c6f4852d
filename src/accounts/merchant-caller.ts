import type { Scope } from '#accounts/api-key-scopes.ts';
import type { ResponseHeaders } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';

/** The state that decides whether an account may take payments in one mode. Up to a second old. */
export interface MerchantAccount {
  readonly tenant: Tenant;
  readonly name: string;
  readonly kybApproved: boolean;
  /** The merchant's number on the contract of the mode's network; `null` before go-live. */
  readonly merchantNumber: bigint | null;
  /** The API key or device key of the request; `null` for a person's session. */
  readonly keyHash: Buffer | null;
}

export interface MerchantCaller {
  readonly tenant: Tenant;
  readonly keyId: string;
  readonly rateKey: string;
  readonly idempotencySpace: '';
  readonly scopes: readonly Scope[];
  readonly apiVersion: string;
  /** The client's IP address, for code that checks the key's allowlist again. */
  readonly address: string;
  readonly merchant: MerchantAccount;
  /** The `Test-Clock` header, if the account's test clock is ahead. */
  readonly responseHeaders?: ResponseHeaders;
}
