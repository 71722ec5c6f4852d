import Type from 'typebox';
import { MODE, type PersonRoute, personRoute, recordChange } from '#apis/dashboard/person-route.ts';
import { ForwardBody, ForwardedList, recordsOf } from '#apis/merchant/offline-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { toJsonAtoms } from '#core/money.ts';
import { AtomsOut, nullable, objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { forwardOffline } from '#payments/offline/forward-offline.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readDelay } from '#settlement/chain/check/check-contract.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { selectOfflineRule } from '#terminals/offline-limit-queries.ts';
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
      description: 'The operator’s cap on one offline sale, in USDC atoms; `null` for none.',
    }),
    rates_delay_seconds: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'How long before it applies a fee change is announced. A till that is offline ' +
          'for longer may accept sales that bounce as `rates_changed`. `null` if unknown.',
      }),
    ),
  },
  { title: 'OfflineRule', description: 'The bounds on the limits of a terminal’s offline sales.' },
);

/**
 * Time for which the timelock's delay is cached. Only the timelock can change it, after an
 * announcement.
 */
const DELAY_MS = 600_000;

/**
 * Returns the delay after which announced fee rates apply, in seconds.
 * @returns `null` if the account cannot sell yet, or no node responds.
 */
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
    summary: 'Retrieve the bounds on offline sales: operator’s rule, notice period for fees',
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
 * Declares the route through which an admin submits the sales that a till saved to a file: a
 * deactivated till, or one whose device key has ended, cannot forward them itself.
 */
function handInRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ForwardBody>({
    method: 'POST',
    path: `${MODE}/terminals/{id}/offline_payments`,
    operationId: 'handInOfflinePayments',
    moves: 'money',
    // Requires no factor, because each record can pay only this merchant: the payer's wallet signed
    // that.
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
    handle: async (request) => {
      const { caller, params, body, now } = request;
      const records = recordsOf(body.payments);
      if (isRefusal(records)) return records;
      const { merchant, tenant } = caller;
      const terminal = await selectTerminal(ctx.db, tenant, params.id ?? '');
      if (terminal === null) return resourceMissing('terminal');
      // Logged before the sales are accepted, so that refused requests are logged too. The log
      // leaves out the signatures, because they can be used to pay until they are settled.
      await ctx.db.transaction((tx) =>
        recordChange(tx, request, {
          action: 'terminal.offline_payments_handed_in',
          objectId: terminal.id,
          after: {
            payments: records.length,
            nonces: records.map((one) => one.authorization.nonce),
          },
        }),
      );
      return forwardOffline(ctx, { merchant, terminalId: terminal.id, records, now });
    },
  });
}

export function offlineSalesRoutes(ctx: ApiContext): PersonRoute[] {
  return [ruleRoute(ctx), handInRoute(ctx)];
}
