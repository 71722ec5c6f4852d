import type { Readiness } from '#settlement/network-readiness.ts';

/** Reports that every network can settle payments, for tests that run no worker. */
export const settling: Readiness = {
  of: () => ({ settles: true, reasons: [] }),
  paymentsLeft: () => null,
  shareOf: () => null,
};
