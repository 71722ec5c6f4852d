import { actorOf, type PersonRequest } from '#apis/dashboard/person-route.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { text } from '#http/schema.ts';

export function accountMissing(): Refusal {
  return refuse('resource_missing', 'No such account.', 'account');
}

/**
 * Returns the account in the path, with the actor and the time. (An operator's session has no
 * account.)
 */
export function pathRef({ caller, params, requestId, now }: PersonRequest) {
  return { accountId: params.account ?? '', actor: actorOf(caller, requestId), now };
}

export const Reason = text(500, 'Shown to the merchant.', 1);
