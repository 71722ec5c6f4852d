import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { searchPayers } from '#apis/operator/operator-queries.ts';
import type { ProposalRow } from '#apis/operator/proposal-queries.ts';
import { ProposalSchema, proposalView } from '#apis/operator/proposal-routes.ts';
import { propose } from '#apis/operator/propose-and-approve.ts';
import { byOf, ReasonBody } from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { idOf, nullable, oneOf, Timestamp, text, textOut } from '#http/schema.ts';
import { selectPayer } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Network';

const PayerSchema = Type.Object({
  id: idOf('pyr_', 'payer'),
  network: oneOf(['testnet', 'mainnet'] as const, 'The network of the wallet.'),
  address: textOut('The wallet.'),
  passes: Type.Integer({ description: 'The number of active passes.' }),
  created: Timestamp,
  blocked_at: nullable(Timestamp),
});

const PayerQuery = Type.Object({ text: text(64, 'A payer id or a wallet address.', 1) });

function payersRoute({ db }: ApiContext) {
  return personRoute<typeof PayerQuery>({
    method: 'GET',
    path: '/payers',
    operationId: 'searchPayers',
    moves: 'nothing',
    tag: TAG,
    summary: 'Search payers by id or wallet',
    access: 'operator',
    records: 'payers.searched',
    query: PayerQuery,
    response: listed(PayerSchema, 'The payers that were found.'),
    handle: async ({ query }) => {
      const rows = await searchPayers(db, query.text);
      const data = rows.map(({ livemode, ...rest }) => ({ ...rest, network: networkOf(livemode) }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

function blockRoute(ctx: ApiContext, verb: 'block' | 'unblock') {
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path: `/payers/{id}/${verb}`,
    operationId: `${verb}AnyPayer`,
    moves: 'money',
    tag: TAG,
    summary: verb === 'block' ? 'Decline every tap of a payer' : 'Allow a payer to pay again',
    description: 'A colleague must approve; with only one operator it takes effect at once.',
    access: 'operator',
    params: { id: 'payer' },
    body: ReasonBody,
    response: ProposalSchema,
    errors: ['resource_missing', 'already_exists'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const { reason } = request.body;
      const made = await ctx.db.transaction<ProposalRow | Refusal>(async (tx) => {
        const payer = await selectPayer(tx, id);
        if (payer === undefined) return resourceMissing('payer');
        const kind = verb === 'block' ? 'block_payer' : 'unblock_payer';
        const wish = { kind, livemode: payer.livemode, subject: id, payload: {}, reason } as const;
        return propose(tx, wish, byOf(ctx, request));
      });
      return isRefusal(made) ? made : answerWith(200, proposalView(made));
    },
  });
}

export function operatorPayerRoutes(ctx: ApiContext): PersonRoute[] {
  return [payersRoute(ctx), blockRoute(ctx, 'block'), blockRoute(ctx, 'unblock')];
}
