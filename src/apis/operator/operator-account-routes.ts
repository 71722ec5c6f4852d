import Type from 'typebox';
import { selectAccount } from '#accounts/account-queries.ts';
import { selectCeilingShare } from '#accounts/ceiling-share-queries.ts';
import { AccountSchema, MemberSchema } from '#apis/dashboard/account/account-schema.ts';
import { readAccountView } from '#apis/dashboard/account/account-view.ts';
import { ACCOUNT, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { KYB_STATUSES, listed } from '#apis/dashboard/person-schema.ts';
import { ceilingShareRoute, Share } from '#apis/operator/ceiling-share-route.ts';
import { searchAccounts } from '#apis/operator/operator-queries.ts';
import { accountMissing, pathRef, Reason } from '#apis/operator/path-account.ts';
import type { ProposalRow } from '#apis/operator/proposal-queries.ts';
import { propose } from '#apis/operator/propose-and-approve.ts';
import { byOf, ProposalId, waitingOf } from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { idOf, limitParameter, oneOf, Timestamp, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectMembers } from '#people/membership-queries.ts';
import { selectInheritedMembers } from '#people/organization-queries.ts';

const TAG = 'Accounts';
const PAGE = 50;

const SearchQuery = Type.Object({
  text: Type.Optional(text(254, 'An id, an email address or the beginning of a name.', 1)),
  before: Type.Optional(idOf('acct_', 'account')),
  limit: limitParameter,
});

const FoundAccount = Type.Object({
  id: idOf('acct_', 'account'),
  name: textOut('The name of the account.'),
  status: oneOf(['active', 'disabled'] as const, 'disabled: the account cannot be used.'),
  kyb_status: oneOf(KYB_STATUSES, 'The status of the business verification.'),
  created: Timestamp,
});

function searchRoute({ db }: ApiContext) {
  return personRoute<typeof SearchQuery>({
    method: 'GET',
    path: '/accounts',
    operationId: 'searchAccounts',
    moves: 'nothing',
    tag: TAG,
    summary: 'List accounts, newest first',
    description: 'Send the id of the last one as `before` for the next page.',
    access: 'operator',
    query: SearchQuery,
    response: listed(FoundAccount, 'One page of accounts.'),
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

const AccountWithTeam = Type.Object(
  {
    ...AccountSchema.properties,
    ceiling_share: Share,
    members: Type.Array(Type.Partial(MemberSchema), { description: 'The people of the account.' }),
  },
  { description: 'The account with its modes and team.' },
);

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: ACCOUNT,
    operationId: 'readAnyAccount',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve an account with its modes and team',
    access: 'operator',
    response: AccountWithTeam,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const accountId = params.account ?? '';
      const view = await readAccountView(db, accountId);
      if (view === null) return accountMissing();
      const own = await selectMembers(db, accountId);
      const rows = [...own, ...(await selectInheritedMembers(db, accountId))];
      const members = rows.map(({ user_id: user, email, name, role }) => {
        return { user, email, name, role };
      });
      const share = await selectCeilingShare(db, accountId);
      return answerWith(200, { ...view, ceiling_share: share, members });
    },
  });
}

const StatusBody = Type.Object({ reason: Reason });

function statusRoute(
  ctx: ApiContext,
  wish: { readonly verb: 'disable' | 'enable'; readonly status: 'active' | 'disabled' },
) {
  return personRoute<undefined, typeof StatusBody>({
    method: 'POST',
    path: `${ACCOUNT}/${wish.verb}`,
    operationId: `${wish.verb}Account`,
    moves: 'access',
    tag: TAG,
    summary:
      wish.verb === 'disable'
        ? 'Disable an account: its keys and terminals get 403 within a second'
        : 'Enable an account again',
    description: 'A colleague must approve; with only one operator it takes effect at once.',
    access: 'operator',
    body: StatusBody,
    response: Type.Object(
      {
        id: idOf('acct_', 'account'),
        status: oneOf(['active', 'disabled'] as const, 'The status of the account now.'),
        proposal: ProposalId,
      },
      { description: 'The account after the change.' },
    ),
    errors: ['resource_missing', 'already_exists'],
    handle: async (request) => {
      const { accountId: subject } = pathRef(request);
      const { reason } = request.body;
      const made = await ctx.db.transaction<ProposalRow | Refusal | null>(async (tx) => {
        const account = await selectAccount(tx, subject);
        if (account === undefined) return accountMissing();
        if (account.status === wish.status) return null;
        const kind = `${wish.verb}_account` as const;
        const proposal = { kind, livemode: true, subject, payload: {}, reason };
        return propose(tx, proposal, byOf(ctx, request));
      });
      if (made !== null && isRefusal(made)) return made;
      const { status } = present(await selectAccount(ctx.db, subject), 'account');
      const proposal = made === null ? null : waitingOf(made);
      return answerWith(200, { id: subject, status, proposal });
    },
  });
}

export function operatorAccountRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    searchRoute(ctx),
    readRoute(ctx),
    statusRoute(ctx, { verb: 'disable', status: 'disabled' }),
    statusRoute(ctx, { verb: 'enable', status: 'active' }),
    ceilingShareRoute(ctx),
  ];
}
