import {
  canStart,
  type EndpointSession,
  isSlow,
  noteOverdue,
  SLOW_MS,
} from '#webhooks/endpoint-session.ts';

/** Limits on one process's requests in flight. A slot costs a socket and a few kilobytes. */
export interface SlotLimits {
  readonly brisk: number;
  /**
   * Slots for endpoints that are slow or failing. However many hang, other endpoints are not
   * affected.
   */
  readonly slow: number;
}

export const SLOT_LIMITS: SlotLimits = { brisk: 1024, slow: 512 };

/** Shares the process's requests among its sessions, one delivery per turn. */
export interface Slots {
  /** Offers a session that may have a delivery to start. */
  offer(session: EndpointSession): void;
  inFlight(): number;
}

interface Group {
  readonly limit: number;
  busy: number;
  readonly waiting: Set<EndpointSession>;
}

/**
 * `start` takes one delivery from the session's buffer, and settles when its response has arrived.
 * Endpoints take turns, so that no endpoint's full buffer delays another one's delivery.
 */
export function createSlots(
  limits: SlotLimits,
  start: (session: EndpointSession) => Promise<void>,
): Slots {
  const groups = {
    brisk: { limit: limits.brisk, busy: 0, waiting: new Set<EndpointSession>() },
    slow: { limit: limits.slow, busy: 0, waiting: new Set<EndpointSession>() },
  };

  const enqueue = (session: EndpointSession) => {
    if (session.queued || !canStart(session)) return;
    session.queued = true;
    (isSlow(session) ? groups.slow : groups.brisk).waiting.add(session);
  };
  const startOne = (first: Group, session: EndpointSession) => {
    let group = first;
    group.busy++;
    // An endpoint that turns out to be slow frees its fast slots.
    const overdue = setTimeout(() => {
      noteOverdue(session);
      group.busy--;
      group = groups.slow;
      group.busy++;
      pump(first);
    }, SLOW_MS);
    void start(session).finally(() => {
      clearTimeout(overdue);
      group.busy--;
      enqueue(session);
      pump(groups.brisk);
      pump(groups.slow);
    });
  };
  const pump = (group: Group) => {
    for (const session of group.waiting) {
      if (group.busy >= group.limit) return;
      // Moves the session to the end of the set, where the loop reaches it again.
      group.waiting.delete(session);
      session.queued = false;
      if (!canStart(session)) continue;
      startOne(group, session);
      if (canStart(session)) {
        session.queued = true;
        group.waiting.add(session);
      }
    }
  };
  return {
    offer: (session) => {
      enqueue(session);
      pump(isSlow(session) ? groups.slow : groups.brisk);
    },
    inFlight: () => groups.brisk.busy + groups.slow.busy,
  };
}
