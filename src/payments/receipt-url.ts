import {
  type IdKey,
  numberedId,
  numberOfId,
  refundOfReceiptToken,
  refundReceiptToken,
} from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Payment } from '#payments/payment.ts';

interface ReceiptPages {
  readonly idKey: IdKey;
  /** The address of the web apps; known once the process listens. */
  readonly webUrl: () => string;
}

/**
 * Set once, at the start of the process. Payments appear in the answers of five APIs, in events and
 * in exports; passing this to each of them would add a parameter to forty functions.
 */
let pages: ReceiptPages | null = null;

/** Every process that shows payments first sets the address of their receipts. */
export function serveReceiptsAt(at: ReceiptPages): void {
  pages = at;
}

/**
 * The public page that shows a payment and its proof. Its address is derived from the same facts as
 * the payment's id, so nothing is stored for it, and nobody can guess it.
 */
export function receiptUrl({
  tenant,
  settlementNumber: number,
}: Pick<Payment, 'tenant' | 'settlementNumber'>): string | null {
  if (pages === null) return null;
  const token = numberedId(pages.idKey, 'receipt', { livemode: tenant.livemode, number });
  return `${pages.webUrl()}/receipts/${token}`;
}

/** The page of a refund; null until it has succeeded. */
export function refundReceiptUrl(refund: {
  readonly id: string;
  readonly tenant: Tenant;
  readonly status: string;
}): string | null {
  if (pages === null || refund.status !== 'succeeded') return null;
  const { livemode } = refund.tenant;
  const token = refundReceiptToken(pages.idKey, { livemode, id: refund.id });
  return `${pages.webUrl()}/receipts/${token}`;
}

/** The refund that a receipt's address names; null: there is none. */
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

/** The settlement that a receipt's address names; null: there is no such receipt. */
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
