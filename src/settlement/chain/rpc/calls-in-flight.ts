import { NodeFault } from '#settlement/chain/rpc/rpc-reply.ts';

/** Requests in flight to one node: enough for receipts, checks and a broadcast concurrently. */
export const CONNECTIONS = 8;
/** Of these, the ones that requests may use for which no customer waits at the counter. */
const OTHERS = 5;
/** A request that has waited this long is not sent, because its caller has given up. */
const WAIT_MS = 10_000;

export interface CallsInFlight {
  /**
   * Runs `send` when a connection is free, urgent requests first.
   * @throws NodeFault if none becomes free, or if the node does not answer those in flight.
   */
  run<T>(urgent: boolean, send: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly urgent: boolean;
  readonly go: () => void;
  readonly fail: (fault: NodeFault) => void;
}

/**
 * Limits the requests in flight to one node. They wait here, not in the connection pool, so that
 * their time-out counts from the sending: a burst must not make a working node look silent.
 * @param isLate True for the error of a request that got no answer in time.
 */
export function createCallsInFlight(isLate: (error: unknown) => boolean): CallsInFlight {
  const waiting: Waiting[] = [];
  const inFlight = { urgent: 0, other: 0 };
  let answeredAt = 0;
  const next = () => {
    if (inFlight.urgent + inFlight.other >= CONNECTIONS) return undefined;
    const urgent = waiting.find((one) => one.urgent);
    return urgent ?? (inFlight.other < OTHERS ? waiting[0] : undefined);
  };
  const serve = () => {
    for (let one = next(); one !== undefined; one = next()) {
      waiting.splice(waiting.indexOf(one), 1);
      inFlight[one.urgent ? 'urgent' : 'other'] += 1;
      one.go();
    }
  };
  const connected = (urgent: boolean) =>
    new Promise<void>((resolve, reject) => {
      const fail = (fault: NodeFault) => {
        clearTimeout(late);
        reject(fault);
      };
      const go = () => {
        clearTimeout(late);
        resolve();
      };
      const one: Waiting = { urgent, go, fail };
      const late = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1);
        fail(new NodeFault('ceiling', 'too many calls wait for the node'));
      }, WAIT_MS);
      waiting.push(one);
      serve();
    });
  return {
    run: async (urgent, send) => {
      await connected(urgent);
      const sentAt = performance.now();
      try {
        const result = await send();
        answeredAt = performance.now();
        return result;
      } catch (error) {
        // The node answers nothing at all, so those who wait ask the next one.
        if (isLate(error) && answeredAt <= sentAt) {
          const silent = new NodeFault('silent', 'the node answers no call');
          for (const one of waiting.splice(0)) one.fail(silent);
        }
        throw error;
      } finally {
        inFlight[urgent ? 'urgent' : 'other'] -= 1;
        serve();
      }
    },
  };
}
