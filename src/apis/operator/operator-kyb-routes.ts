import Type from 'typebox';
import { decideKyb } from '#accounts/kyb.ts';
import { DOCUMENT_TYPES, readDocument } from '#accounts/kyb-documents.ts';
import { selectQueue } from '#accounts/kyb-queries.ts';
import { KybSchema } from '#apis/dashboard/account-schema.ts';
import { answerKyb, fileAnswer, kybView } from '#apis/dashboard/kyb-routes.ts';
import { ACCOUNT, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { accountMissing, pathRef, Reason } from '#apis/operator/path-account.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { idOf, oneOf, Timestamp, textOut } from '#http/schema.ts';
import { MAIL_TOPIC } from '#people/people.ts';

const TAG = 'Accounts';

/** More waiting businesses than a person decides in a day. */
const QUEUE_LIMIT = 200;

function queueRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/kyb',
    operationId: 'listVerificationQueue',
    moves: 'nothing',
    tag: TAG,
    summary: 'Businesses that wait for a decision, the longest wait first',
    access: 'operator',
    response: listed(
      Type.Object({
        account: idOf('acct_', 'account'),
        name: textOut('The name of the account.'),
        submitted_at: Timestamp,
        documents: Type.Integer({ description: 'How many documents were uploaded.' }),
      }),
      'Submissions that wait for a decision.',
    ),
    handle: async () => {
      const rows = await selectQueue(db, QUEUE_LIMIT);
      const data = rows.map(({ account_id: account, ...rest }) => ({ account, ...rest }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

function readKybRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb`,
    operationId: 'readSubmission',
    moves: 'nothing',
    tag: TAG,
    summary: 'A submission with its documents',
    access: 'operator',
    response: KybSchema,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const view = await kybView(db, params.account ?? '');
      return view === null ? accountMissing() : answerWith(200, view);
    },
  });
}

function documentRoute({ db, settings }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb/documents/{id}`,
    operationId: 'downloadSubmittedDocument',
    moves: 'nothing',
    tag: TAG,
    summary: 'The file of a document',
    access: 'operator',
    params: { id: 'document' },
    returns: 'The file, as it was uploaded.',
    sends: DOCUMENT_TYPES,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const wanted = { accountId: params.account ?? '', id: params.id ?? '' };
      const found = await readDocument(db, { ...wanted, secretKey: settings.people.secretKey });
      return isRefusal(found) ? found : fileAnswer(found.row, found.bytes);
    },
  });
}

const DecisionBody = Type.Object({
  decision: oneOf(['approved', 'rejected'] as const, 'A rejection needs a reason.'),
  reason: Type.Optional(Reason),
});

function decideRoute({ db, wakeups, settings }: OperatorDeps) {
  return personRoute<undefined, typeof DecisionBody>({
    method: 'POST',
    path: `${ACCOUNT}/kyb/decision`,
    operationId: 'decideVerification',
    moves: 'access',
    tag: TAG,
    summary: 'Approve or reject a business',
    description: 'Sends kyb.status_changed in both modes. An approval can be taken back.',
    access: 'operator',
    body: DecisionBody,
    response: KybSchema,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async (request) => {
      const { body } = request;
      const ref = { ...pathRef(request), secretKey: settings.people.secretKey };
      const decision = { approved: body.decision === 'approved', reason: body.reason ?? null };
      const row = await db.transaction((tx) => decideKyb(tx, ref, decision));
      if (isRefusal(row)) return row;
      wakeups.send('deliveries');
      wakeups.send(MAIL_TOPIC);
      return answerKyb(db, row.id);
    },
  });
}

/** Verification of businesses, as the network's staff sees and decides it. */
export function operatorKybRoutes(deps: OperatorDeps): PersonRoute[] {
  return [queueRoute(deps), readKybRoute(deps), documentRoute(deps), decideRoute(deps)];
}
