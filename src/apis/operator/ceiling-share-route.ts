import Type from 'typebox';
import { setCeilingShare } from '#accounts/ceiling-share.ts';
import { selectCeilingShare } from '#accounts/ceiling-share-queries.ts';
import { ACCOUNT, personRoute } from '#apis/dashboard/person-route.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { pathRef, Reason } from '#apis/operator/path-account.ts';
import { answerWith } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { idOf, nullable } from '#http/schema.ts';

export const Share = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'Percent of the contract’s hourly ceiling that the account may use; null: as for all.',
  }),
);

export function readShare(db: Database, accountId: string): Promise<number | null> {
  return selectCeilingShare(db, accountId);
}

const ShareBody = Type.Object({ share: Share, reason: Reason });

/** Who sells much, or must not keep others from selling, gets a share of its own. */
export function ceilingShareRoute({ db }: OperatorDeps) {
  return personRoute<undefined, typeof ShareBody>({
    method: 'POST',
    path: `${ACCOUNT}/ceiling_share`,
    operationId: 'setCeilingShare',
    tag: 'Accounts',
    moves: 'money',
    // It bounds what one account may sell in an hour, within what the contract lets all sell.
    alone: true,
    summary: 'How much of the contract’s hourly ceiling an account may use',
    description:
      'Above it, taps answer 503 until the next hour begins. Without a share of its own ' +
      '`MAX_ACCOUNT_SHARE_PERCENT` holds.',
    access: 'operator',
    body: ShareBody,
    response: Type.Object(
      { id: idOf('acct_', 'account'), ceiling_share: Share },
      { description: 'The share that holds now.' },
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
