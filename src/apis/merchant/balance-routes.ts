import Type from 'typebox';
import { selectMerchantNumbers } from '#accounts/account-queries.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { networkOf } from '#core/mode.ts';
import { add, toJsonAtoms, ZERO } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { AtomsOut, Currency, commonFields, Timestamp } from '#http/schema.ts';
import { readMerchantBalance } from '#settlement/chain/balance.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { contractVersionOf } from '#settlement/contract-versions.ts';

export interface BalanceRoutesDeps {
  readonly db: Sql;
  readonly chains: readonly Chain[];
}

const BalanceSchema = Type.Object(
  {
    ...commonFields('balance'),
    available: Type.Array(
      Type.Object({
        amount: AtomsOut,
        currency: Currency,
      }),
      { description: 'Settled and not yet withdrawn, by currency.' },
    ),
    held_until: Type.Union([Timestamp, Type.Null()], {
      description:
        'Nothing can be withdrawn before this time, because the merchant is new on this ' +
        'network. `null` if withdrawals are possible.',
    }),
    as_of: Timestamp,
  },
  {
    title: 'Balance',
    description: 'The balance that the settlement contract holds for the account.',
  },
);

const BALANCE_EXAMPLE = {
  object: 'balance',
  livemode: false,
  network: 'testnet',
  available: [{ amount: 125000000, currency: 'usdc' }],
  held_until: null,
  as_of: '2026-10-01T12:00:21.000Z',
} as const;

interface Funds {
  readonly available: typeof ZERO;
  readonly heldUntil: Date | null;
  readonly asOf: Date;
}

/**
 * Before go-live the merchant is registered on no contract, so the balance is empty. While an
 * account moves to the next contract, both contracts can hold funds.
 */
async function readFunds(
  { db, chains }: BalanceRoutesDeps,
  { merchant, tenant }: MerchantCaller,
  now: Date,
): Promise<Funds | null> {
  const { merchantNumber } = merchant;
  if (merchantNumber === null) return { available: ZERO, heldUntil: null, asOf: now };
  const chain = present(
    chains.find(({ config }) => config.livemode === tenant.livemode),
    'chain',
  );
  try {
    if (contractVersionOf(merchantNumber) === 0)
      return await readMerchantBalance(chain, merchantNumber);
    const numbers = await selectMerchantNumbers(db, tenant);
    const all = await Promise.all(numbers.map((number) => readMerchantBalance(chain, number)));
    const newest = present(all.at(-1), 'balance of a merchant');
    return { ...newest, available: add(ZERO, ...all.map(({ available }) => available)) };
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

/** The balance, read from the chain at its newest block. */
export function balanceRoute(deps: BalanceRoutesDeps): AnyRoute<MerchantCaller> {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/balance',
    operationId: 'retrieveBalance',
    moves: 'nothing',
    tag: 'Balance',
    summary: 'Retrieve the balance',
    description:
      'Settled USDC that the settlement contract of the key’s network holds for the merchant. ' +
      'Withdrawals to the settlement wallet are made in the dashboard.',
    scope: 'balance:read',
    idempotency: 'ignored',
    responses: {
      200: { schema: BalanceSchema, description: 'The balance.', example: BALANCE_EXAMPLE },
    },
    errors: [],
    handle: async ({ caller, now }) => {
      const funds = await readFunds(deps, caller, now);
      if (funds === null) {
        return refuse('service_unavailable', 'The chain cannot be reached. Retry in a moment.');
      }
      const { livemode } = caller.tenant;
      return answerWith(200, {
        object: 'balance',
        livemode,
        network: networkOf(livemode),
        available: [{ amount: toJsonAtoms(funds.available), currency: 'usdc' }],
        held_until: funds.heldUntil?.toISOString() ?? null,
        as_of: funds.asOf.toISOString(),
      });
    },
  });
}
