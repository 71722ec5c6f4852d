import type { TSchema } from 'typebox';
import type { PayerCaller } from '#apis/payer/authenticate-payer.ts';
import { type AnyRoute, defineRoute, type Route } from '#http/route.ts';

export type PayerRoute = AnyRoute<PayerCaller>;

type Declared<Q extends TSchema | undefined, B extends TSchema | undefined> = Omit<
  Route<PayerCaller, Q, B>,
  'tag' | 'scope' | 'idempotency' | 'errors'
> &
  Partial<Pick<Route, 'errors'>>;

/**
 * No response is stored under an idempotency key, because some contain credentials, of which only
 * hashes may be stored, or keys of cards. No route needs it either: the nonce in the signed body
 * makes a repeated approval a refusal, and a repeated transfer the same transfer; a payment stores
 * its payer's first answer, and the same one changes nothing.
 */
export function payerRoute<
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(declared: Declared<Q, B>): PayerRoute {
  return defineRoute<PayerCaller, Q, B>({
    ...{ tag: 'Payer app', scope: null, idempotency: 'ignored', errors: [] },
    ...declared,
  });
}
