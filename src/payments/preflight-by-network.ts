import { assertNever } from '#core/assert.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import { FAILURE_DECLINES } from '#payments/decline-codes.ts';
import type { Preflight } from '#payments/pay-request.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type CheckResult, createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { checkAuthorization } from '#settlement/chain/check/simulate-authorization.ts';

function toPreflight(result: CheckResult): PreflightResult {
  switch (result.status) {
    case 'ok':
      return { ok: true };
    case 'declined':
      return { ok: false, decline: FAILURE_DECLINES[result.reason] };
    case 'unavailable':
    case 'hour_full':
      return result.status;
    default:
      return assertNever(result);
  }
}

/**
 * Returns a function that asks the chain of a payment's network. For a network that has no chain in
 * this process, the function returns `unavailable`.
 */
export function createPreflight(chains: readonly Chain[]): Preflight {
  const checks = new Map(
    chains.map((chain) => [chain.config.livemode, createPaymentCheck(chain)] as const),
  );
  return async ({ livemode, signed, ...payment }) => {
    const check = checks.get(livemode);
    const chain = chains.find(({ config }) => config.livemode === livemode);
    if (check === undefined || chain === undefined) return 'unavailable';
    if (signed === undefined) return toPreflight(await check(payment));
    const { number, ...authorization } = signed;
    const authorized = { payment: { ...payment, number }, ...authorization };
    return toPreflight(await checkAuthorization(chain, authorized));
  };
}
