import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/answer.ts';

/** Checks KYB (403) before go-live (409): the order of behavior.md 2.4. */
export function checkMayTakePayments(merchant: MerchantAccount): Refusal | null {
  if (merchant.tenant.livemode && !merchant.kybApproved) {
    return refuse(
      'kyb_required',
      'Live payments require an approved business verification. Submit it in the dashboard.',
    );
  }
  if (merchant.merchantNumber === null) {
    return refuse(
      'account_not_live',
      "The account is not registered on this network's settlement contract yet. Go live in " +
        'the dashboard first.',
    );
  }
  return null;
}
