import Type from 'typebox';
import { selectMerchantNumbers } from '#accounts/account-queries.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { selectShopSettings } from '#accounts/shop-settings.ts';
import { answerWith, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { toMinorUnits } from '#core/currency-conversion.ts';
import { networkOf } from '#core/mode.ts';
import { add, toJsonAtoms, ZERO } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { AtomsOut, Currency, commonFields, nullable, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectRates } from '#prices/rate-queries.ts';
import { readMerchantBalance } from '#settlement/chain/read/merchant-balance.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { contractVersionOf } from '#settlement/contract-versions.ts';

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
    presentment: nullable(
      Type.Object(
        {
          currency: Type.String({
            pattern: '^[a-z]{3}$',
            description: 'The account’s currency: ISO 4217, in lowercase.',
          }),
          amount: Type.Integer({ minimum: 0, description: 'Minor units of that currency.' }),
          rate: Type.String({ description: 'USDC for one unit of the currency, as text.' }),
          quoted_at: { ...Timestamp, description: 'The time of the rate.' },
          source: Type.String({ description: 'The source of the rate.' }),
        },
        {
          description:
            'The approximate value of `available` in the account’s currency now. `null` if the ' +
            'account has none, or if there is no usable rate.',
        },
      ),
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
  presentment: null,
  held_until: null,
  as_of: '2026-10-01T12:00:21.000Z',
} as const;

interface Funds {
  readonly available: typeof ZERO;
  readonly heldUntil: Date | null;
  readonly asOf: Date;
}

/**
 * Reads the merchant's balances; `null` if there are none, because the merchant is not registered
 * on a contract before go-live. While an account moves to another contract, both contracts can hold
 * funds.
 */
async function readFunds(
  { db, chains }: ApiContext,
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

/** Returns the value of these atoms in the account's currency; `null` if there is none. */
async function worthOf(db: Sql, accountId: string, available: bigint, now: Date) {
  const { currency } = await selectShopSettings(db, accountId);
  if (currency === null) return null;
  const row = (await selectRates(db, [currency])).get(currency);
  const { rate = null, quoted_at: quotedAt = null, usable_until: until = null } = row ?? {};
  if (rate === null || quotedAt === null || until === null || until < now) return null;
  const amount = toMinorUnits(available, { currency, rate });
  return { currency, amount, rate, quoted_at: quotedAt.toISOString(), source: row?.source ?? '' };
}

export function balanceRoute(ctx: ApiContext): AnyRoute<MerchantCaller> {
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
      const funds = await readFunds(ctx, caller, now);
      if (funds === null) {
        return refuse('service_unavailable', 'The chain cannot be reached. Retry in a moment.');
      }
      const { livemode } = caller.tenant;
      return answerWith(200, {
        object: 'balance',
        livemode,
        network: networkOf(livemode),
        available: [{ amount: toJsonAtoms(funds.available), currency: 'usdc' }],
        presentment: await worthOf(ctx.db, caller.tenant.accountId, funds.available, now),
        held_until: funds.heldUntil?.toISOString() ?? null,
        as_of: funds.asOf.toISOString(),
      });
    },
  });
}
