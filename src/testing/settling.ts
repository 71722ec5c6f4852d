import type { Readiness } from '#settlement/readiness.ts';

/** Reports every network as able to settle, for tests without a worker. */
export const settling: Readiness = {
  of: () => ({ settles: true, reasons: [] }),
  paymentsLeft: () => null,
  shareOf: () => null,
};
