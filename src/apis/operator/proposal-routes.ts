import Type from 'typebox';
import { keccak256, stringToHex } from 'viem';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import {
  PROPOSAL_KINDS,
  type ProposalRow,
  selectProposal,
  selectProposals,
} from '#apis/operator/proposal-queries.ts';
import { decide, propose } from '#apis/operator/propose-and-approve.ts';
import { byOf, ReasonBody } from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import {
  idOf,
  limitParameter,
  nullable,
  objectType,
  oneOf,
  openObject,
  Timestamp,
  textOut,
} from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { readDelay } from '#settlement/chain/check/check-contract.ts';
import { type ControlAction, controlCalls } from '#settlement/contract/control-calls.ts';

const TAG = 'Proposals';
const PAGE = 50;
/** The contract's maximum for the acquirer and protocol fees together, in basis points. */
const MAX_RATE = 300;

export const ProposalSchema = Type.Object(
  {
    id: idOf('prop_', 'proposal'),
    kind: oneOf(PROPOSAL_KINDS, 'The change to make. More kinds may come.'),
    network: oneOf(['testnet', 'mainnet'] as const, 'The network that it concerns.'),
    subject: Type.String({ description: 'The payer, the account, or the network.' }),
    payload: openObject(
      'Rates in basis points; the newest settlement that is included; else empty.',
    ),
    reason: textOut('The reason for the proposal.'),
    status: oneOf(['open', 'approved', 'rejected'] as const, 'open: not decided yet.'),
    proposed_by: Type.String({ description: 'The address of the person who asked for it.' }),
    created: Timestamp,
    expires_at: Timestamp,
    decided_by: nullable(
      Type.String({ description: '`null` if it is not decided, or if no colleague had to agree.' }),
    ),
    decided_at: nullable(Timestamp),
    decision_reason: nullable(textOut('The reason for the decision, or null.')),
  },
  { description: 'The proposal.' },
);

export function proposalView(row: ProposalRow) {
  return {
    id: row.id,
    kind: row.kind,
    network: networkOf(row.livemode),
    subject: row.subject,
    payload: row.payload,
    reason: row.reason,
    status: row.status,
    proposed_by: row.proposed_by_email,
    created: row.created,
    expires_at: row.expires_at,
    decided_by: row.decided_by_email,
    decided_at: row.decided_at,
    decision_reason: row.decision_reason,
  };
}

const ListQuery = Type.Object({
  open: Type.Optional(Type.Boolean({ description: 'true: only open proposals.' })),
  before: Type.Optional(idOf('prop_', 'proposal')),
  limit: limitParameter,
});

function listRoute({ db }: ApiContext) {
  return personRoute<typeof ListQuery>({
    method: 'GET',
    path: '/proposals',
    operationId: 'listProposals',
    moves: 'nothing',
    tag: TAG,
    summary:
      'List the changes that one operator has proposed and another must approve, newest first',
    description: 'Send the id of the last one as `before` for the next page.',
    access: 'operator',
    query: ListQuery,
    response: Type.Object(
      {
        object: objectType('list'),
        data: Type.Array(ProposalSchema, { description: 'Newest first.' }),
        has_more: Type.Boolean({ description: 'True if there is another page.' }),
      },
      { description: 'One page of proposals.' },
    ),
    handle: async ({ query, now }) => {
      const { limit = PAGE, before = null, open = false } = query;
      const rows = await selectProposals(db, { open, before, limit: limit + 1, now });
      const data = rows.slice(0, limit).map(proposalView);
      return answerWith(200, { object: 'list', data, has_more: rows.length > limit });
    },
  });
}

const Rate = Type.Integer({ minimum: 0, maximum: MAX_RATE, description: 'Basis points.' });
const RatesSchema = Type.Object(
  { acquirer: Rate, protocol: Rate, cashback: Rate },
  { description: 'The new rates; only for change_rates.' },
);

const ProposeBody = Type.Object({
  ...ReasonBody.properties,
  kind: oneOf(['pause', 'unpause', 'change_rates'] as const, 'The action on the contract.'),
  network: oneOf(['testnet', 'mainnet'] as const, 'Which contract.'),
  rates: Type.Optional(RatesSchema),
});

function proposeRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ProposeBody>({
    method: 'POST',
    path: '/proposals',
    operationId: 'proposeContractChange',
    moves: 'money',
    tag: TAG,
    summary: 'Propose to pause the contract, to end its pause, or to change its rates',
    access: 'operator',
    body: ProposeBody,
    status: 201,
    response: ProposalSchema,
    errors: ['already_exists'],
    handle: async (request) => {
      const { kind, network, rates, reason } = request.body;
      if (kind === 'change_rates' && rates === undefined) {
        return refuse('parameter_missing', 'rates is required for change_rates.', 'rates');
      }
      const payload = kind === 'change_rates' && rates !== undefined ? { ...rates } : {};
      const livemode = network === 'mainnet';
      const wish = { kind, livemode, subject: network, payload, reason };
      const made = await ctx.db.transaction<ProposalRow | Refusal>((tx) =>
        propose(tx, wish, byOf(ctx, request)),
      );
      return isRefusal(made) ? made : answerWith(201, proposalView(made));
    },
  });
}

function decideRoute(ctx: ApiContext, verb: 'approve' | 'reject') {
  const approves = verb === 'approve';
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path: `/proposals/{id}/${verb}`,
    operationId: `${verb}Proposal`,
    moves: 'money',
    tag: TAG,
    summary: approves
      ? "Approve a colleague's proposal"
      : "Reject a colleague's proposal, or take back your own",
    access: 'operator',
    params: { id: 'proposal' },
    body: ReasonBody,
    response: ProposalSchema,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async (request) => {
      const decision = { id: request.params.id ?? '', approves, reason: request.body.reason };
      const row = await ctx.db.transaction<ProposalRow | Refusal>((tx) =>
        decide(tx, decision, byOf(ctx, request)),
      );
      return isRefusal(row) ? row : answerWith(200, proposalView(row));
    },
  });
}

const CallSchema = Type.Object({
  by: oneOf(['proposer', 'guardian', 'steward'] as const, 'Whose key sends it.'),
  says: textOut('A description of the transaction.'),
  chain_id: Type.Integer({ description: 'The id of the blockchain.' }),
  to: textOut('The address of the settlement contract, or of its timelock.'),
  value: textOut('The wei that it sends: always 0.'),
  data: textOut('The call, in hex.'),
});

/** True if the holder of a contract key must carry out the change; otherwise the service does. */
function isForContract(kind: ProposalRow['kind']): kind is ControlAction {
  return kind === 'pause' || kind === 'unpause' || kind === 'change_rates';
}

/**
 * Returns the route that shows the transactions of an approved change. It shows none before two
 * operators have agreed.
 */
function callsRoute({ db, chains }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/proposals/{id}/transactions',
    operationId: 'readProposalTransactions',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the transactions that carry out an approved change of the contract',
    description: 'The holder of the key sends them: the service has no key that is allowed to.',
    access: 'operator',
    params: { id: 'proposal' },
    response: listed(CallSchema, 'The transactions, in the order in which they are sent.'),
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ params }) => {
      const row = await selectProposal(db, params.id ?? '');
      const chain = chains.find(({ config }) => config.livemode === row?.livemode);
      if (row === undefined || chain === undefined) return resourceMissing('proposal');
      const { kind, payload, status } = row;
      if (!isForContract(kind)) return resourceMissing('transaction');
      if (status !== 'approved') {
        return refuse('unexpected_state', 'A colleague must approve this proposal first.');
      }
      const { acquirer = 0, protocol = 0, cashback = 0 } = payload;
      const { chainId: chain_id, settlement } = chain.config;
      const rates = { acquirer, protocol, cashback };
      const delay = kind === 'change_rates' ? await readDelay(chain, settlement) : 0n;
      // The salt is derived from the proposal's ID, so that the timelock schedules the change only
      // once even if it is sent twice.
      const salt = keccak256(stringToHex(row.id));
      const calls = controlCalls(kind, { settlement, rates, delay, salt });
      const data = calls.map((call) => ({ ...call, chain_id, value: '0' }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

/**
 * Returns the routes for two-person approval: one operator proposes a change, another approves it.
 */
export function proposalRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    listRoute(ctx),
    proposeRoute(ctx),
    decideRoute(ctx, 'approve'),
    decideRoute(ctx, 'reject'),
    callsRoute(ctx),
  ];
}
