import { type IdKey, numberedId, numberOfId } from '#core/ids.ts';
import type { Payment } from '#payments/payment.ts';

interface ReceiptPages {
  readonly idKey: IdKey;
  /** Where people reach the web apps; known once the process listens. */
  readonly webUrl: () => string;
}

/**
 * Of the process, for good: set once at its start. Payments are shown in answers of five APIs, in
 * events and in exports; handing this to each of them would be a parameter of forty functions.
 */
let pages: ReceiptPages | null = null;

/** Every process that shows payments says first where their receipts are. */
export function serveReceiptsAt(at: ReceiptPages): void {
  pages = at;
}

/**
 * The public page that shows a payment and its proof. Its address is made of what the payment's id
 * is made of, so nothing is stored for it, and nobody can guess it.
 */
export function receiptUrl({ tenant, settlementNumber: number }: Payment): string | null {
  if (pages === null) return null;
  const token = numberedId(pages.idKey, 'receipt', { livemode: tenant.livemode, number });
  return `${pages.webUrl()}/receipts/${token}`;
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
