import {
  type IdKey,
  numberedId,
  numberOfId,
  refundOfReceiptToken,
  refundReceiptToken,
} from '#core/ids.ts';
import type { Payment } from '#payments/payment.ts';

export interface ReceiptPages {
  readonly idKey: IdKey;
  /** Returns the URL of the web apps, which is known once the process listens. */
  readonly webUrl: () => string;
}

/**
 * Returns the URL of the public page that shows a payment and its proof. The URL is derived from
 * the settlement number with a secret key, so it is not stored and cannot be guessed.
 */
export function receiptUrl(
  { livemode, settlement_number: number }: Pick<Payment, 'livemode' | 'settlement_number'>,
  { idKey, webUrl }: ReceiptPages,
): string {
  const token = numberedId(idKey, 'receipt', { livemode, number });
  return `${webUrl()}/receipts/${token}`;
}

/** Returns the URL of a refund's public page; `null` until the refund has succeeded. */
export function refundReceiptUrl(
  refund: { readonly id: string; readonly livemode: boolean; readonly status: string },
  { idKey, webUrl }: ReceiptPages,
): string | null {
  if (refund.status !== 'succeeded') return null;
  const token = refundReceiptToken(idKey, refund);
  return `${webUrl()}/receipts/${token}`;
}

export function findRefundReceipt(
  idKey: IdKey,
  token: string,
): { readonly livemode: boolean; readonly id: string } | null {
  for (const livemode of [false, true]) {
    const id = refundOfReceiptToken(idKey, { livemode, token });
    if (id !== null) return { livemode, id };
  }
  return null;
}

export function findReceipt(
  idKey: IdKey,
  token: string,
): { readonly livemode: boolean; readonly number: bigint } | null {
  for (const livemode of [false, true]) {
    const number = numberOfId(idKey, 'receipt', { livemode, id: token });
    if (number !== null) return { livemode, number };
  }
  return null;
}
