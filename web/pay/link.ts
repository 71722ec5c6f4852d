import { type Answer, type Api, createApi } from '../data/api.ts';
import type {
  PayLink as LinkOfService,
  PaymentAuthorization,
  PayOutcome,
  TagPayment,
} from '../data/types/pay.ts';
import type { Hex } from '../wallet/bytes.ts';

/** What is to be paid: by its link, or by the tag of its till, which hides the number. */
export type PayLink = Omit<TagPayment, 'object' | 'reference' | 'description'> &
  Partial<Pick<LinkOfService, 'number'> & Pick<TagPayment, 'reference' | 'description'>>;

/** What became of it. Only who has signed is told the receipt. */
export type Intent = Pick<
  PayOutcome,
  'status' | 'cancellation_reason' | 'last_payment_error' | 'receipt_url'
>;
export type TypedData = PaymentAuthorization;

/** Everything that the page asks of the service. */
export interface PayApi {
  read(wallet?: { readonly from?: Hex; readonly tip?: bigint | null }): Promise<Answer<PayLink>>;
  /** Sending the same again is safe: it gets the first answer. */
  pay(signed: Signed): Promise<Answer<Intent>>;
  /** What was sent before and has no answer yet, where that is kept. */
  sent?(): Signed | null;
}

export interface Signed {
  /** null: no tip is asked for. */
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

/** JSON's number for a tip. */
export function numberOf(tip: bigint | null | undefined): number | undefined {
  return tip == null ? undefined : Number(tip);
}

/** The last part of the page's address. */
export function tokenOf(pathname: string): string {
  return decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? '');
}

/** What leaves the wallet: the fees come on top, and the cashback comes out of them. */
export function priceOf({ total_charged: total, fees }: PayLink): bigint {
  return BigInt(total) - BigInt(fees.cashback);
}
