import type { Readiness } from '#settlement/readiness.ts';

/** Networks that settle, for tests in which no worker runs. */
export const settling: Readiness = {
  of: () => ({ settles: true, reasons: [] }),
  paymentsLeft: () => null,
  shareOf: () => null,
};
