import { type Courier, canStart, isSlow, noteOverdue, SLOW_MS } from '#webhooks/courier.ts';

/** Requests in flight from one process. A slot costs a socket and a few kilobytes. */
export interface SlotLimits {
  readonly brisk: number;
  /** For endpoints that are slow or fail: however many hang, the others do not notice. */
  readonly slow: number;
}

export const SLOT_LIMITS: SlotLimits = { brisk: 1024, slow: 512 };

/** Shares the process's requests among its couriers, one delivery per turn. */
export interface Slots {
  /** The courier may have something to start. */
  offer(courier: Courier): void;
  /** What is in flight now. */
  inFlight(): number;
}

interface Group {
  readonly limit: number;
  busy: number;
  readonly waiting: Set<Courier>;
}

/**
 * `start` takes one delivery from the courier's buffer and settles when its answer has come.
 * Couriers take turns, so that a full buffer of one does not go before a single delivery of
 * another.
 */
export function createSlots(limits: SlotLimits, start: (courier: Courier) => Promise<void>): Slots {
  const groups = {
    brisk: { limit: limits.brisk, busy: 0, waiting: new Set<Courier>() },
    slow: { limit: limits.slow, busy: 0, waiting: new Set<Courier>() },
  };

  const enqueue = (courier: Courier) => {
    if (courier.queued || !canStart(courier)) return;
    courier.queued = true;
    (isSlow(courier) ? groups.slow : groups.brisk).waiting.add(courier);
  };
  const startOne = (first: Group, courier: Courier) => {
    let group = first;
    group.busy++;
    // An endpoint that turns out to hang gives its brisk slots back: they are for others.
    const overdue = setTimeout(() => {
      noteOverdue(courier);
      group.busy--;
      group = groups.slow;
      group.busy++;
      pump(first);
    }, SLOW_MS);
    void start(courier).finally(() => {
      clearTimeout(overdue);
      group.busy--;
      enqueue(courier);
      pump(groups.brisk);
      pump(groups.slow);
    });
  };
  const pump = (group: Group) => {
    for (const courier of group.waiting) {
      if (group.busy >= group.limit) return;
      // Deleting and adding again puts the courier at the end, where the loop reaches it again.
      group.waiting.delete(courier);
      courier.queued = false;
      if (!canStart(courier)) continue;
      startOne(group, courier);
      if (canStart(courier)) {
        courier.queued = true;
        group.waiting.add(courier);
      }
    }
  };
  return {
    offer: (courier) => {
      enqueue(courier);
      pump(isSlow(courier) ? groups.slow : groups.brisk);
    },
    inFlight: () => groups.brisk.busy + groups.slow.busy,
  };
}
