import Type from 'typebox';
import { actorOf, MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { ForwardBody, ForwardedList, recordsOf } from '#apis/merchant/offline-schema.ts';
import { recordEntry } from '#audit/audit.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { toJsonAtoms } from '#core/money.ts';
import { AtomsOut, nullable, objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { forwardOffline } from '#payments/offline/forward.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readDelay } from '#settlement/chain/check-contract.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { selectOfflineRule } from '#terminals/offline-queries.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';

const TAG = 'Terminals';

const OfflineRuleSchema = Type.Object(
  {
    object: objectType('offline_rule'),
    allowed: Type.Boolean({
      description: 'False: the operator allows no offline sales on this network.',
    }),
    per_payment: nullable({
      ...AtomsOut,
      description: 'The operator’s cap of one offline sale, in USDC atoms; `null` for none.',
    }),
    rates_delay_seconds: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'How long a change of fees is announced before it can apply. A till that is offline ' +
          'for longer may take sales that bounce as `rates_changed`. `null`: not known now.',
      }),
    ),
  },
  { title: 'OfflineRule', description: 'What bounds the limits of a terminal’s offline sales.' },
);

/** The delay is immutable but for the timelock itself, which announces its changes, too. */
const DELAY_MS = 600_000;

/** @returns `null` if the account sells nothing yet, or the chain does not answer. */
async function readRatesDelay(
  chain: Chain | undefined,
  merchantNumber: bigint | null,
): Promise<number | null> {
  if (chain === undefined || merchantNumber === null) return null;
  const settlement = contractOf(chain.config, merchantNumber);
  try {
    const delay = await chain.remember(`delay of ${settlement}`, DELAY_MS, () =>
      readDelay(chain, settlement),
    );
    return Number(delay);
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

function ruleRoute({ db, chains }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/offline_rule`,
    operationId: 'readOfflineRuleOfAccount',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve what bounds offline sales: the operator’s rule, and the notice of fees',
    access: 'viewer',
    response: OfflineRuleSchema,
    handle: async ({ caller: { merchant } }) => {
      const { tenant, merchantNumber } = merchant;
      const chain = chains.find(({ config }) => config.livemode === tenant.livemode);
      const { allowed, per_payment: cap } = await selectOfflineRule(db, tenant.livemode);
      return answerWith(200, {
        object: 'offline_rule',
        allowed,
        per_payment: cap === null ? null : toJsonAtoms(cap),
        rates_delay_seconds: await readRatesDelay(chain, merchantNumber),
      });
    },
  });
}

/**
 * Returns the route by which an admin hands in what a till has saved to a file: one that is
 * deactivated, or whose device key has ended, cannot forward any more.
 */
function handInRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ForwardBody>({
    method: 'POST',
    path: `${MODE}/terminals/{id}/offline_payments`,
    operationId: 'handInOfflinePayments',
    moves: 'money',
    // No factor is required, because each record can pay only this merchant, with its wallet’s yes.
    asks: 'never',
    tag: TAG,
    summary: 'Hand in the sales that a terminal accepted offline',
    description:
      'The same as the terminal’s own forwarding. Each record can pay only its own merchant, once.',
    access: 'admin',
    params: { id: 'terminal' },
    body: ForwardBody,
    response: ForwardedList,
    errors: ['offline_not_allowed', 'kyb_required', 'account_not_live', 'service_unavailable'],
    handle: async ({ caller, params, body, requestId, now }) => {
      const records = recordsOf(body.payments);
      if (isRefusal(records)) return records;
      const { merchant, tenant } = caller;
      const terminal = await selectTerminal(ctx.db, tenant, params.id ?? '');
      if (terminal === null) return resourceMissing('terminal');
      // Before the sales are taken, so that a refused request is there, too. The signatures stay
      // out of the log: until they are settled, they can pay.
      await ctx.db.transaction((tx) =>
        recordEntry(tx, {
          auditLog: tenant.accountId,
          actor: actorOf(caller, requestId),
          action: 'terminal.offline_payments_handed_in',
          objectId: terminal.id,
          livemode: tenant.livemode,
          before: null,
          after: {
            payments: records.length,
            nonces: records.map((one) => one.authorization.nonce),
          },
          now,
        }),
      );
      return forwardOffline(ctx, { merchant, terminalId: terminal.id, records, now });
    },
  });
}

/** Returns the dashboard's own routes for sales that tills accept offline. */
export function offlineSalesRoutes(ctx: ApiContext): PersonRoute[] {
  return [ruleRoute(ctx), handInRoute(ctx)];
}
