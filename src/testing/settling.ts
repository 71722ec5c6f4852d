import type { Readiness } from '#settlement/readiness.ts';

/** Says of every network that it can settle, for tests without a worker. */
export const settling: Readiness = {
  of: () => ({ settles: true, reasons: [] }),
  paymentsLeft: () => null,
  shareOf: () => null,
};
