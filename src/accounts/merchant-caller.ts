import type { Scope } from '#accounts/scopes.ts';
import { type Refusal, type ResponseHeaders, refuse } from '#core/answer.ts';
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

/** KYB (403) before go-live (409): the order of behavior.md 2.4. */
export function checkMayTakePayments(standing: MerchantStanding): Refusal | null {
  if (standing.tenant.livemode && !standing.kybApproved) {
    return refuse(
      'kyb_required',
      'Live payments need an approved business verification: submit it in the dashboard.',
    );
  }
  if (standing.merchantNumber === null) {
    return refuse(
      'account_not_live',
      'The account is not registered on the settlement contract of this network yet: ' +
        'press Go Live in the dashboard.',
    );
  }
  return null;
}
