import Type from 'typebox';
import { setCeilingShare } from '#accounts/set-ceiling-share.ts';
import { ACCOUNT, personRoute } from '#apis/dashboard/person-route.ts';
import { pathRef, Reason } from '#apis/operator/path-account.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, nullable } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

export const Share = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'Percent of the contract’s hourly ceiling that the account may use; `null` for the default.',
  }),
);

const ShareBody = Type.Object({ share: Share, reason: Reason });

/**
 * Returns the route that sets an account's share of the hourly ceiling: larger for a high volume,
 * or smaller to protect other accounts.
 */
export function ceilingShareRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof ShareBody>({
    method: 'POST',
    path: `${ACCOUNT}/ceiling_share`,
    operationId: 'setCeilingShare',
    tag: 'Accounts',
    moves: 'money',
    // One operator can do it alone, because the contract's ceiling still limits the account.
    alone: true,
    summary: 'Set the share of the contract’s hourly ceiling that an account may use',
    description:
      'Above it, taps get 503 until the next hour begins. Without a share of its own ' +
      '`MAX_ACCOUNT_SHARE_PERCENT` holds.',
    access: 'operator',
    body: ShareBody,
    response: Type.Object(
      { id: idOf('acct_', 'account'), ceiling_share: Share },
      { description: 'The share now.' },
    ),
    errors: ['resource_missing'],
    handle: async (request) => {
      const { share } = request.body;
      const ref = pathRef(request);
      const refused = await db.transaction((tx) => setCeilingShare(tx, ref, request.body));
      return refused ?? answerWith(200, { id: ref.accountId, ceiling_share: share });
    },
  });
}
