import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Block } from '#settlement/chain/chain.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { MIN_LEFT_S } from '#settlement/relayer/rows/transaction-queries.ts';

/** For a payment from an API of the previous release, which wrote no deadline. */
const LEFT_WITHOUT_DEADLINE_S = 60;

type Timed = Pick<OpenRequest, 'deadline' | 'settleWithinS'>;

function leftMs({ deadline }: Timed, now: Date): number {
  return deadline === null ? LEFT_WITHOUT_DEADLINE_S * 1_000 : deadline.getTime() - now.getTime();
}

/** Whether it may still be signed. */
export function hasTimeLeft(request: Timed, now: Date): boolean {
  return leftMs(request, now) >= MIN_LEFT_S * 1_000;
}

/**
 * The last block time at which these payments may settle, to the second: the head's time and the
 * least time that one of them has left. So it is measured by the chain's clock alone, and a clock
 * that differs from ours makes it neither longer nor shorter. A head that has not moved makes it
 * shorter: then the chain refuses the call and the payments go out once more.
 */
export function validUntil(
  payments: readonly Timed[],
  times: { readonly head: Pick<Block, 'time'>; readonly now: Date },
): Date {
  const left = Math.min(...payments.map((payment) => leftMs(payment, times.now)));
  const until = addMs(times.head.time, left);
  return addMs(until, -until.getMilliseconds());
}

/**
 * Payments that may share a batch: their deadlines lie within half of the time that the first of
 * them was given, so that no payment loses more than that because of another one.
 */
export function groupByDeadline<T extends Timed>(payments: readonly T[], now: Date): T[][] {
  const groups: T[][] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const payment of payments.toSorted((a, b) => leftMs(a, now) - leftMs(b, now))) {
    if (leftMs(payment, now) > latest) {
      const givenS = payment.settleWithinS ?? LEFT_WITHOUT_DEADLINE_S;
      latest = leftMs(payment, now) + (givenS * 1_000) / 2;
      groups.push([]);
    }
    present(groups.at(-1), 'group of payments').push(payment);
  }
  return groups;
}
