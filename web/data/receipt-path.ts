/**
 * Returns the path of a receipt on this origin, whatever the service's public URL is. `null` if
 * there is no receipt.
 */
export function receiptPath(url: string | null): string | null {
  const token = url?.split('/receipts/')[1];
  return token === undefined ? null : `receipts/${token}`;
}
