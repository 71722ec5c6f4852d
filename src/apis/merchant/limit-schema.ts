import Type from 'typebox';
import { MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { type Limit, limitFrom, type StoredShopSum } from '#core/shop-limit.ts';
import { nullable } from '#http/schema.ts';

const ShopSumSchema = Type.Object(
  {
    currency: Type.String({
      pattern: '^[a-z]{3}$',
      description: 'The account’s currency or one of its locations’: ISO 4217, in lowercase.',
      examples: ['eur'],
    }),
    amount: Type.Integer({
      minimum: 0,
      maximum: MAX_MINOR_UNITS,
      description: 'Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.',
    }),
  },
  { additionalProperties: false, description: 'A limit in the shop’s currency.' },
);

/** Schema of a limit in a request: atoms, or a sum in the shop's currency. */
export function limitInput(most: number, description: string) {
  return Type.Union([Type.Integer({ minimum: 0, maximum: most }), ShopSumSchema], {
    description: `${description} An integer of USDC atoms, or a sum in the shop’s currency.`,
  });
}

/** Schema of a limit's value in the shop's currency, in a response. */
export const LimitPresentment = {
  ...nullable(ShopSumSchema),
  description:
    'The limit in the shop’s currency; `null` if it was set in USDC atoms. The field in atoms is ' +
    'then its worth when it was set, rounded down.',
};

/** Renders the sum in the shop's currency of a stored limit. */
export function limitPresentment(atoms: bigint | null, stored: StoredShopSum | null) {
  return atoms === null ? null : inShopOf(limitFrom(atoms, stored));
}

export function inShopOf({ inShop }: Limit) {
  return inShop === null ? null : { ...inShop };
}
