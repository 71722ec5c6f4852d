import { type Refusal, refuse } from '#core/answer.ts';
import { toAtoms } from '#core/currency-conversion.ts';
import type { Limit, ShopSum } from '#core/shop-limit.ts';
import type { Tx } from '#db/database.ts';
import { selectRate } from '#prices/rate-queries.ts';

/** A limit of a request: atoms, or a sum in the shop's currency. */
export type LimitInput = number | ShopSum;

export interface LimitPlace {
  readonly accountId: string;
  /** The parameter of the limit. */
  readonly param: string;
  /** The highest limit, in atoms. */
  readonly most: number;
  /** The stored limit, which a request may repeat in a currency that the shop no longer has. */
  readonly before?: Limit | null;
  /** The currency that the same request gives the account. */
  readonly newCurrency?: string | null | undefined;
}

async function isOfShop(tx: Tx, { accountId, newCurrency }: LimitPlace, currency: string) {
  if (currency === newCurrency) return true;
  const rows = await tx.query(
    `select from accounts where id = $1 and currency = $2
     union all select from locations where account_id = $1 and currency = $2`,
    [accountId, currency],
  );
  return rows.length > 0;
}

/**
 * Reads a limit. One in the shop's currency is stored with its worth at the last known rate,
 * rounded down.
 */
export async function readLimit(
  tx: Tx,
  input: LimitInput,
  place: LimitPlace,
): Promise<Limit | Refusal> {
  if (typeof input === 'number') return { atoms: BigInt(input), inShop: null };
  const { param, most, before = null } = place;
  const { currency, amount } = input;
  const { inShop = null } = before ?? {};
  if (before !== null && inShop?.currency === currency && inShop.amount === amount) return before;
  if (!(await isOfShop(tx, place, currency))) {
    const message = `${param}.currency must be the account's currency or one of its locations'.`;
    return refuse('parameter_invalid', message, `${param}.currency`);
  }
  const rate = await selectRate(tx, currency);
  if (rate === null) {
    return refuse('rates_unavailable', `There is no exchange rate for ${currency} yet.`, param);
  }
  const worth = toAtoms(BigInt(amount), { currency, rate });
  if (worth <= BigInt(most)) return { atoms: worth, inShop: { currency, amount } };
  const message = `${param}.amount is worth ${worth} USDC atoms; it can be worth at most ${most}.`;
  return refuse('parameter_invalid', message, `${param}.amount`);
}
