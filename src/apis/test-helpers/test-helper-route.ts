import type { TSchema } from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { type AnyRoute, defineRoute, type Route } from '#http/route.ts';

type Declared<B extends TSchema | undefined> = Omit<
  Route<MerchantCaller, undefined, B>,
  'tag' | 'scope' | 'idempotency' | 'errors'
> &
  Partial<Pick<Route<MerchantCaller>, 'scope' | 'idempotency' | 'errors'>>;

/** By default, it needs the right to write and ignores idempotency keys. */
export function testHelperRoute<B extends TSchema | undefined = undefined>(
  declared: Declared<B>,
): AnyRoute<MerchantCaller> {
  return defineRoute<MerchantCaller, undefined, B>({
    ...{ tag: 'Test helpers', scope: 'payments:write', idempotency: 'ignored' },
    ...declared,
    // Live keys get this error: see `liveRefusal`.
    errors: ['route_missing', ...(declared.errors ?? [])],
  });
}
