import Type from 'typebox';
import { decideKyb } from '#accounts/kyb.ts';
import { readDocument } from '#accounts/kyb-documents.ts';
import { selectQueue } from '#accounts/kyb-queries.ts';
import { selectMembers } from '#accounts/membership-queries.ts';
import { MAIL_TOPIC } from '#accounts/people.ts';
import { setAccountStatus } from '#accounts/settings.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { readAccountView } from '#dashboard/account-routes.ts';
import { AccountSchema, KybSchema, MemberSchema } from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { ACCOUNT } from '#dashboard/dashboard-deps.ts';
import { fileAnswer, kybView } from '#dashboard/kyb-routes.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { listed } from '#dashboard/person-schema.ts';
import type { AnyRoute, Handled } from '#http/route.ts';
import { idOf, limitParameter, nullable, oneOf, Timestamp, text } from '#http/schema.ts';
import type { OperatorDeps } from '#ops/operator-deps.ts';
import { searchAccounts } from '#ops/operator-queries.ts';

const TAG = 'Accounts';
/** More waiting businesses than a person decides in a day. */
const QUEUE_LIMIT = 200;
const PAGE = 50;

function accountMissing(): Refusal {
  return refuse('resource_missing', 'No such account.', 'account');
}

/** The account of the path: an operator's caller has no account of its own. */
function pathRef({ caller, params, requestId, now }: Handled<PersonCaller, unknown, unknown>) {
  return { accountId: params.account ?? '', actor: actorOf(caller, requestId), now };
}

function queueRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/kyb',
    operationId: 'listVerificationQueue',
    tag: TAG,
    summary: 'Businesses that wait for a decision, the longest wait first',
    access: 'operator',
    response: listed(
      Type.Object({
        account: idOf('acct_', 'account'),
        name: Type.String(),
        submitted_at: Timestamp,
        documents: Type.Integer(),
      }),
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
    tag: TAG,
    summary: 'The file of a document',
    access: 'operator',
    params: { id: 'document' },
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const of = { accountId: params.account ?? '', id: params.id ?? '' };
      const found = await readDocument(db, { ...of, secretKey: settings.people.secretKey });
      return isRefusal(found) ? found : fileAnswer(found.row, found.bytes);
    },
  });
}

const Reason = text(500, 'Shown to the merchant.', 1);
const DecisionBody = Type.Object({
  decision: oneOf(['approved', 'rejected'] as const, 'A rejection needs a reason.'),
  reason: Type.Optional(Reason),
});

function decideRoute({ db, wakeups, settings }: OperatorDeps) {
  return personRoute<undefined, typeof DecisionBody>({
    method: 'POST',
    path: `${ACCOUNT}/kyb/decision`,
    operationId: 'decideVerification',
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
      return answerWith(200, present(await kybView(db, row.id), 'account'));
    },
  });
}

const SearchQuery = Type.Object({
  text: Type.Optional(text(254, 'An id, an e-mail address or the beginning of a name.', 1)),
  before: Type.Optional(idOf('acct_', 'account')),
  limit: limitParameter,
});

const Found = Type.Object({
  id: idOf('acct_', 'account'),
  name: Type.String(),
  status: oneOf(['active', 'disabled'] as const, 'Whether it can be used.'),
  kyb_status: Type.String(),
  created: Timestamp,
});

function searchRoute({ db }: OperatorDeps) {
  return personRoute<typeof SearchQuery>({
    method: 'GET',
    path: '/accounts',
    operationId: 'searchAccounts',
    tag: TAG,
    summary: 'Accounts, newest first',
    description: 'Send the id of the last one as `before` for the next page.',
    access: 'operator',
    query: SearchQuery,
    response: listed(Found),
    handle: async ({ query }) => {
      const data = await searchAccounts(db, {
        text: query.text ?? null,
        before: query.before ?? null,
        limit: query.limit ?? PAGE,
      });
      return answerWith(200, { object: 'list', data });
    },
  });
}

const AccountWithTeam = Type.Object({
  ...AccountSchema.properties,
  members: Type.Array(Type.Partial(MemberSchema)),
});

function readRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: ACCOUNT,
    operationId: 'readAnyAccount',
    tag: TAG,
    summary: 'An account with its modes and team',
    access: 'operator',
    response: AccountWithTeam,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const accountId = params.account ?? '';
      const view = await readAccountView(db, accountId);
      if (view === null) return accountMissing();
      const rows = await selectMembers(db, accountId);
      const members = rows.map(({ user_id: user, email, name, role }) => {
        return { user, email, name, role };
      });
      return answerWith(200, { ...view, members });
    },
  });
}

const StatusBody = Type.Object({ reason: Reason });

function statusRoute(
  { db }: OperatorDeps,
  of: { readonly verb: 'disable' | 'enable'; readonly status: 'active' | 'disabled' },
) {
  return personRoute<undefined, typeof StatusBody>({
    method: 'POST',
    path: `${ACCOUNT}/${of.verb}`,
    operationId: `${of.verb}Account`,
    tag: TAG,
    summary:
      of.verb === 'disable'
        ? 'Disable an account: its keys and terminals answer 403 within a second'
        : 'Enable an account again',
    access: 'operator',
    body: StatusBody,
    response: Type.Object({ id: idOf('acct_', 'account'), status: nullable(Type.String()) }),
    errors: ['resource_missing'],
    handle: async (request) => {
      const change = { status: of.status, reason: request.body.reason };
      const row = await db.transaction((tx) => setAccountStatus(tx, pathRef(request), change));
      return isRefusal(row) ? row : answerWith(200, { id: row.id, status: row.status });
    },
  });
}

/** Verification and accounts, as the network's staff sees and decides them. */
export function operatorAccountRoutes(deps: OperatorDeps): AnyRoute<PersonCaller>[] {
  return [
    queueRoute(deps),
    readKybRoute(deps),
    documentRoute(deps),
    decideRoute(deps),
    searchRoute(deps),
    readRoute(deps),
    statusRoute(deps, { verb: 'disable', status: 'disabled' }),
    statusRoute(deps, { verb: 'enable', status: 'active' }),
  ];
}
