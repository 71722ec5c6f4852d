import Type from 'typebox';
import { ACCOUNT, actorOf, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Done } from '#apis/dashboard/person-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { nullable, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectOpenHold } from '#payouts/payout-hold-queries.ts';
import { liftHold } from '#payouts/payout-holds.ts';

const TAG = 'Money';
const PATH = `${ACCOUNT}/payout_hold`;

const HoldSchema = Type.Object(
  {
    held: Type.Boolean({ description: 'True if payouts are on hold.' }),
    held_by: nullable(Type.String({ description: 'The owner whose link was used.' })),
    since: nullable(Timestamp),
  },
  { description: 'Whether payouts are on hold, by whom, and since when.' },
);

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readPayoutHold',
    moves: 'nothing',
    tag: TAG,
    summary: 'Check whether payouts are held after a change of owners',
    access: 'viewer',
    response: HoldSchema,
    handle: async ({ caller }) => {
      const row = await selectOpenHold(db, caller.tenant.accountId);
      return answerWith(200, {
        held: row !== undefined,
        held_by: row?.held_by ?? null,
        since: row?.created.toISOString() ?? null,
      });
    },
  });
}

function liftRoute({ db, people }: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: PATH,
    operationId: 'liftPayoutHold',
    moves: 'money',
    tag: TAG,
    summary: 'Lift the hold on payouts',
    description:
      'Needs a second factor verified in the last five minutes. All owners are notified.',
    access: 'owner',
    response: Done,
    errors: ['unexpected_state'],
    handle: async ({ caller, requestId, now }) => {
      const { accountId } = caller.tenant;
      const ref = { accountId, actor: actorOf(caller, requestId), now };
      const lifted = await db.transaction((tx) => liftHold(tx, people.merchant, ref));
      return isRefusal(lifted) ? lifted : answerWith(200, { status: 'lifted' });
    },
  });
}

/** Owners put the hold with a mailed link: hold-page.ts. */
export function holdRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), liftRoute(ctx)];
}
