import type { PayerCaller } from '#apis/payer/authenticate-payer.ts';
import type { Refusal } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';
import { asksOf } from '#http/second-factor-by-effect.ts';
import { signatureRefusal } from '#payers/payer-sign-in.ts';

/**
 * Refuses unless the wallet has signed within the last five minutes. Routes with `asks: 'own'` call
 * it themselves.
 */
export function consentRefusal({ signedAt }: PayerCaller, now: Date): Refusal | null {
  return signatureRefusal(signedAt, now);
}

/**
 * Wraps a route so that it requires a fresh signature of the wallet if its `asks` is `always`. A
 * session alone can read, answer confirmations and revoke access, but cannot add a way to pay.
 */
export function withWalletConsent(route: AnyRoute<PayerCaller>): AnyRoute<PayerCaller> {
  const asks = asksOf(route);
  if (asks !== 'always' && asks !== 'own') return route;
  const errors = [...new Set([...route.errors, 'second_factor_required' as const])];
  if (asks === 'own') return { ...route, errors };
  return {
    ...route,
    errors,
    handle: async (request) => consentRefusal(request.caller, request.now) ?? route.handle(request),
  };
}
