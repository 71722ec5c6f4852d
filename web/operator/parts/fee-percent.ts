/** Formats a rate: 30 basis points become `0.30 %`. Number and sign stay on one line. */
export function percent(basisPoints: number): string {
  return `${(basisPoints / 100).toFixed(2)}\u00a0%`;
}
