import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { refuse } from '#core/refusal.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { AtomsOut, commonFields, Timestamp } from '#http/schema.ts';
import { readMerchantBalance } from '#settlement/balance.ts';
import type { Chain } from '#settlement/chain.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';

const BalanceSchema = Type.Object(
  {
    ...commonFields('balance'),
    available: Type.Array(
      Type.Object({
        amount: AtomsOut,
        currency: Type.Unsafe<'usdc'>({ type: 'string', const: 'usdc' }),
      }),
    ),
    as_of: Timestamp,
  },
  { title: 'Balance' },
);

const BALANCE_EXAMPLE = {
  object: 'balance',
  livemode: false,
  network: 'testnet',
  available: [{ amount: 128500000, currency: 'usdc' }],
  as_of: '2026-10-01T12:00:21.000Z',
} as const;

/** What the contract holds for a merchant; nothing before it is registered there. */
async function readBalance(
  chain: Chain | undefined,
  of: { readonly merchantNumber: bigint | null; readonly now: Date },
): Promise<{ readonly available: bigint; readonly asOf: Date } | null> {
  if (of.merchantNumber === null) return { available: 0n, asOf: of.now };
  if (chain === undefined) return null;
  try {
    return await readMerchantBalance(chain, of.merchantNumber);
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

/** `GET /balance`: read from the chain, `as_of` the block that it was read at. */
export function balanceRoute(deps: {
  readonly chains: readonly Chain[];
}): AnyRoute<MerchantCaller> {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/balance',
    operationId: 'retrieveBalance',
    tag: 'Balance',
    summary: 'Retrieve the balance of the settlement contract',
    scope: 'balance:read',
    idempotency: 'ignored',
    responses: {
      200: { schema: BalanceSchema, description: 'The balance.', example: BALANCE_EXAMPLE },
    },
    errors: ['service_unavailable'],
    handle: async ({ caller, now }) => {
      const { livemode } = caller.tenant;
      const chain = deps.chains.find(({ config }) => config.livemode === livemode);
      const { merchantNumber } = caller.standing;
      const balance = await readBalance(chain, { merchantNumber, now });
      if (balance === null) {
        return refuse('service_unavailable', 'The chain cannot be reached. Try again in a moment.');
      }
      return answerWith(200, {
        object: 'balance',
        livemode,
        network: networkOf(livemode),
        available: [{ amount: toJsonAtoms(balance.available), currency: 'usdc' }],
        as_of: balance.asOf.toISOString(),
      });
    },
  });
}
