/** Formats a rate: 30 basis points become `0.30 %`. Number and sign stay on one line. */
export function percent(basisPoints: number): string {
  return `${(basisPoints / 100).toFixed(2)}\u00a0%`;
}

/** Converts a typed percentage to basis points, or `null` if it is invalid. */
export function readPercent(typed: string): number | null {
  const [, whole, part = ''] = /^(\d{1,2})(?:[.,](\d{1,2}))?$/.exec(typed.trim()) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(part.padEnd(2, '0'));
}
