import Type from 'typebox';
import { type AccountRow, selectAccount } from '#accounts/account-queries.ts';
import { decideName, nobodyAsked } from '#accounts/edit-account.ts';
import { DOCUMENT_TYPES, readDocument } from '#accounts/kyb-documents.ts';
import { selectQueue } from '#accounts/kyb-queries.ts';
import { decideKyb, mayNotApprove } from '#accounts/kyb-review.ts';
import { selectNameRequests, selectRequestedName } from '#accounts/name-request-queries.ts';
import { KybSchema } from '#apis/dashboard/account/account-schema.ts';
import { fileAnswer, kybView } from '#apis/dashboard/account/kyb-routes.ts';
import { ACCOUNT, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { accountMissing, pathRef, Reason } from '#apis/operator/path-account.ts';
import { type ProposalRow, selectOpenProposal } from '#apis/operator/proposal-queries.ts';
import { propose } from '#apis/operator/propose-and-approve.ts';
import { byOf, ProposalId, waitingOf } from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import { idOf, nullable, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Accounts';

/** Maximum length of the list: more businesses than one person can decide about in a day. */
const QUEUE_LIMIT = 200;

function queueRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/kyb',
    operationId: 'listVerificationQueue',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the businesses that wait for a decision, the longest wait first',
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

const StaffKybSchema = Type.Object(
  {
    ...KybSchema.properties,
    proposal: ProposalId,
    asked_by: nullable(textOut('Who has requested the approval that waits for a colleague.')),
  },
  { description: 'The submission, its documents, and who has requested its approval.' },
);

async function staffView(db: Database, accountId: string, now: Date): Promise<object | null> {
  const view = await kybView(db, accountId);
  if (view === null) return null;
  const filter = { kind: 'approve_account', livemode: true, subject: accountId, now } as const;
  const open = await selectOpenProposal(db, filter);
  return { ...view, proposal: open?.id ?? null, asked_by: open?.proposed_by_email ?? null };
}

function readKybRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb`,
    operationId: 'readSubmission',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a submission with its documents',
    access: 'operator',
    records: 'kyb.read',
    response: StaffKybSchema,
    errors: ['resource_missing'],
    handle: async ({ params, now }) => {
      const view = await staffView(db, params.account ?? '', now);
      return view === null ? accountMissing() : answerWith(200, view);
    },
  });
}

function documentRoute({ db, keys }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb/documents/{id}`,
    operationId: 'downloadSubmittedDocument',
    moves: 'nothing',
    tag: TAG,
    summary: 'Download the file of a document',
    access: 'operator',
    records: 'kyb.document_read',
    params: { id: 'document' },
    returns: 'The file, as it was uploaded.',
    sends: DOCUMENT_TYPES,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const filter = { accountId: params.account ?? '', id: params.id ?? '' };
      const document = await readDocument(db, { ...filter, secretKey: keys.people });
      return isRefusal(document) ? document : fileAnswer(document.row, document.bytes);
    },
  });
}

const DecisionBody = Type.Object({
  decision: oneOf(['approved', 'rejected'] as const, 'A rejection needs a reason.'),
  reason: Type.Optional(Reason),
});

function decideRoute(ctx: ApiContext) {
  const { db, wakeups, keys } = ctx;
  return personRoute<undefined, typeof DecisionBody>({
    method: 'POST',
    path: `${ACCOUNT}/kyb/decision`,
    operationId: 'decideVerification',
    moves: 'access',
    tag: TAG,
    summary: 'Approve or reject a business',
    description:
      'Sends kyb.status_changed in both modes. An approval can be taken back. A colleague must ' +
      'agree to an approval, by requesting the same or by approving the proposal; an operator ' +
      'who works alone approves at once, and a rejection never waits.',
    access: 'operator',
    body: DecisionBody,
    response: StaffKybSchema,
    errors: ['resource_missing', 'unexpected_state', 'already_exists'],
    handle: async (request) => {
      const { body, now } = request;
      const reason = body.reason ?? null;
      const ref = { ...pathRef(request), secretKey: keys.people };
      const { accountId: subject } = ref;
      const done = await db.transaction<ProposalRow | AccountRow | Refusal>(async (tx) => {
        if (body.decision === 'rejected') return decideKyb(tx, ref, { approved: false, reason });
        const mayNot = await mayNotApprove(tx, subject);
        if (mayNot !== null) return mayNot;
        const wish = { kind: 'approve_account', livemode: true, subject, payload: {} } as const;
        return propose(tx, { ...wish, reason: reason ?? '' }, byOf(ctx, request));
      });
      if (isRefusal(done)) return done;
      wakeups.send('deliveries');
      return answerWith(200, present(await staffView(db, subject, now), 'account'));
    },
  });
}

const NameRequest = Type.Object({
  account: idOf('acct_', 'account'),
  name: textOut('The name that payers see until the decision.'),
  requested_name: textOut('The name that the account requests.'),
  created: Timestamp,
});

function namesRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/name_requests',
    operationId: 'listNameRequests',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the verified businesses that request another name, the longest wait first',
    access: 'operator',
    response: listed(NameRequest, 'Names that wait for a decision.'),
    handle: async () => {
      const rows = await selectNameRequests(db, QUEUE_LIMIT);
      const data = rows.map(({ account_id: account, present_name, name, created }) => {
        return { account, name: present_name, requested_name: name, created };
      });
      return answerWith(200, { object: 'list', data });
    },
  });
}

const NameDecision = Type.Object({
  decision: oneOf(['approved', 'rejected'] as const, 'True if payers see the new name.'),
  reason: Reason,
});

function decideNameRoute(ctx: ApiContext) {
  const { db, keys } = ctx;
  return personRoute<undefined, typeof NameDecision>({
    method: 'POST',
    path: `${ACCOUNT}/name_request/decision`,
    operationId: 'decideName',
    moves: 'access',
    tag: TAG,
    summary: 'Accept or reject the new name of a verified business',
    description: 'A colleague must agree to the new name, as to the approval of a business.',
    access: 'operator',
    body: NameDecision,
    response: Type.Object(
      { id: idOf('acct_', 'account'), name: textOut('The name now.'), proposal: ProposalId },
      { description: 'The name that payers see now.' },
    ),
    errors: ['resource_missing', 'unexpected_state', 'already_exists'],
    handle: async (request) => {
      const { decision, reason } = request.body;
      const ref = { ...pathRef(request), secretKey: keys.people };
      const { accountId: subject } = ref;
      const done = await db.transaction<ProposalRow | AccountRow | Refusal>(async (tx) => {
        if (decision === 'rejected') return decideName(tx, ref, { approved: false, reason });
        if ((await selectRequestedName(tx, subject)) === null) return nobodyAsked();
        const wish = { kind: 'rename_account', livemode: true, subject, payload: {} } as const;
        return propose(tx, { ...wish, reason }, byOf(ctx, request));
      });
      if (isRefusal(done)) return done;
      const { name } = present(await selectAccount(db, subject), 'account');
      const proposal = 'kind' in done ? waitingOf(done) : null;
      return answerWith(200, { id: subject, name, proposal });
    },
  });
}

export function operatorKybRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    queueRoute(ctx),
    readKybRoute(ctx),
    documentRoute(ctx),
    decideRoute(ctx),
    namesRoute(ctx),
    decideNameRoute(ctx),
  ];
}
