import type { PayerCaller } from '#apis/payer/authenticate.ts';
import type { Refusal } from '#core/answer.ts';
import { asksOf } from '#http/moves.ts';
import type { AnyRoute } from '#http/route.ts';
import { signatureRefusal } from '#payers/sign-in.ts';

/** Whether the wallet has signed within the last five minutes, for the routes that ask by `own`. */
export function consentRefusal({ signedAt }: PayerCaller, now: Date): Refusal | null {
  return signatureRefusal(signedAt, now);
}

/**
 * A session alone reads, answers questions and takes rights away. What gives somebody else a way
 * to pay needs the wallet's own signature: the declaration of the route says so.
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
