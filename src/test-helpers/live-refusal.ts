import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/refusal.ts';

/** With a live key the test helpers do not exist. */
export function liveRefusal(caller: MerchantCaller): Refusal | null {
  if (!caller.tenant.livemode) return null;
  return refuse('route_missing', 'Test helpers exist for test keys only.');
}
