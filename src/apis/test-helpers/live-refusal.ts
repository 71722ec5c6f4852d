import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';

const HELPERS = '/test_helpers/';

/** Refuses test helpers if the caller's key is live. Runs before the request is parsed. */
export function liveRefusal(
  route: Pick<AnyRoute<MerchantCaller>, 'path'>,
  caller: MerchantCaller,
): Refusal | null {
  if (!route.path.startsWith(HELPERS) || !caller.tenant.livemode) return null;
  return refuse('route_missing', 'Test helpers are available only to test keys.');
}
