import type { Readiness } from '#settlement/readiness.ts';

/** Reports that every network can settle, for tests without a worker. */
export const settling: Readiness = {
  of: () => ({ settles: true, reasons: [] }),
  paymentsLeft: () => null,
  shareOf: () => null,
};
