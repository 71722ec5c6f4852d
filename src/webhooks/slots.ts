import { canStart, isSlow, type Lane, noteOverdue, SLOW_MS } from '#webhooks/lane.ts';

/** Requests in flight from one process. A slot costs a socket and a few kilobytes. */
export interface SlotLimits {
  readonly brisk: number;
  /** For endpoints that are slow or fail: however many hang, the others do not notice. */
  readonly slow: number;
}

export const SLOT_LIMITS: SlotLimits = { brisk: 1024, slow: 512 };

/** Shares the process's requests among its lanes, one delivery per turn. */
export interface Slots {
  /** The lane may have something to start. */
  offer(lane: Lane): void;
  /** What is in flight now. */
  inFlight(): number;
}

interface Group {
  readonly limit: number;
  busy: number;
  readonly waiting: Set<Lane>;
}

/**
 * `start` takes one delivery from the lane's buffer and settles when its answer is there. Lanes
 * take turns, so that a full buffer of one does not go before a single delivery of another.
 */
export function createSlots(limits: SlotLimits, start: (lane: Lane) => Promise<void>): Slots {
  const groups = {
    brisk: { limit: limits.brisk, busy: 0, waiting: new Set<Lane>() },
    slow: { limit: limits.slow, busy: 0, waiting: new Set<Lane>() },
  };

  const enqueue = (lane: Lane) => {
    if (lane.queued || !canStart(lane)) return;
    lane.queued = true;
    (isSlow(lane) ? groups.slow : groups.brisk).waiting.add(lane);
  };
  const startOne = (first: Group, lane: Lane) => {
    let group = first;
    group.busy++;
    // An endpoint that turns out to hang gives its brisk slots back: they are for others.
    const overdue = setTimeout(() => {
      noteOverdue(lane);
      group.busy--;
      group = groups.slow;
      group.busy++;
      pump(first);
    }, SLOW_MS);
    void start(lane).finally(() => {
      clearTimeout(overdue);
      group.busy--;
      enqueue(lane);
      pump(groups.brisk);
      pump(groups.slow);
    });
  };
  const pump = (group: Group) => {
    for (const lane of group.waiting) {
      if (group.busy >= group.limit) return;
      // Deleting and adding again moves the lane to the end of the line; the loop reaches it there.
      group.waiting.delete(lane);
      lane.queued = false;
      if (!canStart(lane)) continue;
      startOne(group, lane);
      if (canStart(lane)) {
        lane.queued = true;
        group.waiting.add(lane);
      }
    }
  };
  return {
    offer: (lane) => {
      enqueue(lane);
      pump(isSlow(lane) ? groups.slow : groups.brisk);
    },
    inFlight: () => groups.brisk.busy + groups.slow.busy,
  };
}
