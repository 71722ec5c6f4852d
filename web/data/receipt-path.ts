/** Receipts are pages of this service, whatever address it calls itself by. null: there is none. */
export function receiptPath(url: string | null): string | null {
  const token = url?.split('/receipts/')[1];
  return token === undefined ? null : `receipts/${token}`;
}
