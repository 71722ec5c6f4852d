import Type from 'typebox';
import { createManagerCode } from '#accounts/manager-code.ts';
import { actorOf, MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith } from '#core/answer.ts';
import { Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const ManagerCodeSchema = Type.Object(
  {
    code: Type.String({ description: 'XXXX-XXXX, shown only once.', examples: ['7KMP-3XWR'] }),
    expires_at: Timestamp,
  },
  { title: 'ManagerCode', description: 'A code for one refund at a till.' },
);

/**
 * Members may create a code for a refund at a till, because they may also refund in the dashboard.
 */
export function managerCodeRoute({ db }: ApiContext): PersonRoute {
  return personRoute({
    method: 'POST',
    path: `${MODE}/manager_codes`,
    operationId: 'createManagerCode',
    moves: 'access',
    asks: 'always',
    // Sends no mail, because a shop creates several codes a day, each for one refund, and the
    // creator has just verified a factor.
    unmailed: true,
    tag: 'Terminals',
    summary: 'Create a code with which a till makes a refund that needs a manager',
    description:
      'Works once, for ten minutes, at any till of the account and mode: for a sale of another ' +
      'till, or for a large amount.',
    access: 'member',
    status: 201,
    response: ManagerCodeSchema,
    handle: async ({ caller: { tenant }, caller, requestId, now }) => {
      const actor = actorOf(caller, requestId);
      const made = await db.transaction((tx) => createManagerCode(tx, { tenant, actor, now }));
      return answerWith(201, { code: made.code, expires_at: made.expiresAt.toISOString() });
    },
  });
}
