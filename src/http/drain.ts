import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as arrivals, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { PROCESS_ENDS } from '#core/ending.ts';

/** How a server goes out of service: no request is cut, and nothing that waits keeps it. */
export interface Drain {
  /** Whether each answer closes its connection, because there will not be another. */
  isClosing(): boolean;
  /**
   * Aborts when the client is gone, or (with {@link PROCESS_ENDS}) when it is time to answer with
   * what is known: a wait for work first, a wait for something that was asked for later.
   */
  waiting(response: ServerResponse, wait: { readonly isPoll: boolean }): AbortSignal;
  /**
   * Stops the server: what runs is finished, and what waits is answered. Answers close their
   * connections only once nobody listens any more. Earlier, clients would come back in new ones,
   * and the system resets those that have been made and not been accepted when the listener closes.
   */
  close(app: FastifyInstance): Promise<void>;
}

/** A kept connection brings its next request within this time; its answer ends the connection. */
const LAST_REQUESTS_MS = 500;
/**
 * `LAST_REQUESTS_MS` is waited in turns of this length. A process that is held up reads nothing, so
 * that pause counts as one turn, and what came meanwhile is answered in those that follow.
 */
const TURN_MS = 10;
/** Turns that are all slow take no longer: the rest of a stop needs its time. */
const SLOW_TURNS_MS = 2_000;
/**
 * From the start of the stop. A settlement takes about a second; a tap that still waits then is
 * answered `processing`.
 */
const SETTLE_MS = 4_500;
/** Then whatever still runs is cut: a stop takes 10 s at most, and workers stop after this. */
const LAST_ANSWERS_MS = 1_000;

interface Waiting {
  readonly response: ServerResponse;
  readonly controller: AbortController;
  readonly isPoll: boolean;
}

/** Node's own `close` of an HTTP server also cuts idle connections, which may be bringing one. */
function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}

async function lastRequests(): Promise<void> {
  const end = performance.now() + SLOW_TURNS_MS;
  for (let turns = LAST_REQUESTS_MS / TURN_MS; turns > 0; turns--) {
    await sleep(TURN_MS);
    if (performance.now() > end) break;
  }
  // Node runs timers before it reads sockets. Without this wait, what came during the last turn
  // would be cut unread.
  await arrivals();
}

/**
 * How long the waits for settlements, and then all requests, may go on when the last requests have
 * taken `passedMs`. Slow turns do not make a stop longer. But if a process was held up for longer
 * than all of that, what came meanwhile still gets its answers.
 */
export function timesLeft(passedMs: number): { readonly settleMs: number; readonly cutMs: number } {
  const settleMs = Math.max(0, SETTLE_MS - passedMs);
  return { settleMs, cutMs: settleMs + LAST_ANSWERS_MS };
}

export function createDrain(): Drain {
  const all = new Set<Waiting>();
  const ended = { polls: false, others: false };
  let isClosing = false;
  const endNow = ({ response, controller }: Waiting) => {
    if (!response.headersSent) response.shouldKeepAlive = false;
    controller.abort(PROCESS_ENDS);
  };
  const end = (what: 'polls' | 'others') => {
    ended[what] = true;
    for (const one of all) if (one.isPoll === (what === 'polls')) endNow(one);
  };
  return {
    isClosing: () => isClosing,
    waiting: (response, { isPoll }) => {
      const one = { response, controller: new AbortController(), isPoll };
      if (response.destroyed) one.controller.abort();
      else if (ended[isPoll ? 'polls' : 'others']) endNow(one);
      else {
        all.add(one);
        // The response's own event: a listener on a kept-alive socket would outlive the request.
        response.once('close', () => {
          all.delete(one);
          one.controller.abort();
        });
      }
      return one.controller.signal;
    },
    close: async (app) => {
      const begun = performance.now();
      stopListening(app.server);
      isClosing = true;
      await lastRequests();
      end('polls');
      const { settleMs, cutMs } = timesLeft(performance.now() - begun);
      const timers = [
        setTimeout(() => end('others'), settleMs),
        setTimeout(() => app.server.closeAllConnections(), cutMs),
      ];
      await app.close();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
