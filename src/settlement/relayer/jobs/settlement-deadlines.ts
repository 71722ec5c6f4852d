import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { SECOND_MS } from '#core/durations.ts';
import type { Block } from '#settlement/chain/chain.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';

/** Time to simulate, sign, send and mine, in seconds. A payment with less time left is not sent. */
export const MIN_LEFT_S = 10;

/**
 * Time allowed, in seconds, for payments that recovery has booked from the chain, whose deadline is
 * unknown.
 */
const LEFT_WITHOUT_DEADLINE_S = 60;

type Timed = Pick<OpenRequest, 'deadline' | 'settleWithinS'>;

function leftMs({ deadline }: Timed, now: Date): number {
  if (deadline === null) return LEFT_WITHOUT_DEADLINE_S * SECOND_MS;
  return deadline.getTime() - now.getTime();
}

export function hasTimeLeft(request: Timed, now: Date): boolean {
  return leftMs(request, now) >= MIN_LEFT_S * SECOND_MS;
}

/**
 * Returns the last block time at which these payments may settle, in whole seconds: the head's time
 * plus the shortest time that any of them has left. Only the chain's clock counts. While the head
 * stays the same, later calls get an earlier time; the chain may then refuse the call, and the
 * payments are sent again.
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
 * Groups payments that may share a batch. In a group, deadlines differ by at most half of the time
 * that the first payment was given, so that no payment loses more time because of another.
 */
export function groupByDeadline<T extends Timed>(payments: readonly T[], now: Date): T[][] {
  const groups: T[][] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const payment of payments.toSorted((a, b) => leftMs(a, now) - leftMs(b, now))) {
    if (leftMs(payment, now) > latest) {
      const givenS = payment.settleWithinS ?? LEFT_WITHOUT_DEADLINE_S;
      latest = leftMs(payment, now) + (givenS * SECOND_MS) / 2;
      groups.push([]);
    }
    present(groups.at(-1), 'group of payments').push(payment);
  }
  return groups;
}
