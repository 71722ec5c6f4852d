import { type Answer, type Api, createApi } from '../data/api.ts';
import type { Hex } from '../data/bytes.ts';
import type {
  PayLink as LinkOfService,
  PaymentAuthorization,
  PayOutcome,
  TagPayment,
} from '../data/types/pay.ts';
import type { SaleTotal } from '../ui/paid-total.ts';

/**
 * The payment to make, from a pay link or from a till's tag. A tag does not reveal the settlement
 * number.
 */
export type PayLink = Omit<TagPayment, 'object' | 'reference' | 'description'> &
  Partial<Pick<LinkOfService, 'number'> & Pick<TagPayment, 'reference' | 'description'>>;

/** The state of the payment. Only the browser that signed gets the receipt. */
export type Intent = Pick<
  PayOutcome,
  'status' | 'cancellation_reason' | 'last_payment_error' | 'receipt_url'
>;
export type TypedData = PaymentAuthorization;

export interface PayApi {
  read(wallet?: { readonly from?: Hex; readonly tip?: bigint | null }): Promise<Answer<PayLink>>;
  /** Safe to repeat: the same signature returns the first response. */
  pay(signed: Signed): Promise<Answer<Intent>>;
  /** Returns a signature that this browser sent without receiving a response, or `null`. */
  sent?(): Signed | null;
}

export interface Signed {
  /** `null` if the payer is not asked for a tip. */
  readonly tip: bigint | null;
  readonly from: Hex;
  readonly signature: Hex;
}

export function payApi(token: string): PayApi {
  const api: Api = createApi({ root: 'api/pay/v1' });
  const path = `/${encodeURIComponent(token)}`;
  return {
    read: ({ from, tip } = {}) => api({ path, query: { from, tip_amount: numberOf(tip) } }),
    pay: ({ tip, ...signed }) => {
      const body = { ...signed, tip_amount: numberOf(tip) };
      return api({ method: 'POST', path: `${path}/authorization`, body });
    },
  };
}

/** Converts a tip to a JSON number. */
export function numberOf(tip: bigint | null | undefined): number | undefined {
  return tip == null ? undefined : Number(tip);
}

/** Returns the token, which is the last segment of the page's path. */
export function tokenOf(pathname: string): string {
  return decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? '');
}

/** Returns the amount that leaves the wallet, including fees. Cashback is paid from the fees. */
export function totalOf({ total_charged: total, fees }: PayLink): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}

/** Returns what the customer pays, and the service fee in it, as the service computed them. */
export function linkTotal(link: PayLink): SaleTotal {
  const { amount, tip_amount: tip, presentment: quoted } = link;
  const atoms = totalOf(link);
  const fees = atoms - BigInt(amount + tip);
  if (quoted === null) {
    const fee = fees > 0n ? { atoms: fees, price: null } : null;
    return { total: { atoms, price: null }, fee };
  }
  const { currency, rate } = quoted;
  const units = BigInt(quoted.total ?? quoted.amount + quoted.tip_amount);
  return {
    total: { atoms, price: { currency, rate, units } },
    fee: quoted.fees ? { atoms: fees, price: { currency, units: BigInt(quoted.fees) } } : null,
  };
}
