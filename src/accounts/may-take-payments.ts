import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/answer.ts';

/** Checks KYB (403) before go-live (409), in the order of behavior.md 2.4. */
export function checkMayTakePayments(merchant: MerchantAccount): Refusal | null {
  if (merchant.tenant.livemode && !merchant.kybApproved) {
    return refuse(
      'kyb_required',
      'Live payments need an approved business verification. Submit it in the dashboard.',
    );
  }
  if (merchant.merchantNumber === null) {
    return refuse(
      'account_not_live',
      'The account is not registered on the settlement contract of this network yet. ' +
        'Click Go Live in the dashboard.',
    );
  }
  return null;
}
