import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as arrivals, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { PROCESS_ENDS } from '#core/abort-reason.ts';

/** Shuts a server down without cutting off requests, and without waiting for long polls. */
export interface Drain {
  /**
   * True if each response must close its connection, because the server will answer no other
   * request on it.
   */
  isClosing(): boolean;
  /**
   * Returns a signal that aborts when the client disconnects, or (with {@link PROCESS_ENDS}) when
   * the request must respond with the current state: polls first, requests that wait for a result
   * later.
   */
  waiting(response: ServerResponse, wait: { readonly isPoll: boolean }): AbortSignal;
  /**
   * Stops the server: running requests finish, and waiting ones are answered. Responses close their
   * connections only once the listener is closed. Otherwise, clients would reconnect, and the
   * system resets connections that are established but not yet accepted when the listener closes.
   */
  close(app: FastifyInstance): Promise<void>;
}

/**
 * Time in which a client may send one more request on a kept-alive connection. The response to it
 * closes the connection.
 */
const LAST_REQUESTS_MS = 500;
/**
 * Length of one step of `LAST_REQUESTS_MS`. A blocked process reads nothing, so a block of any
 * length counts as one step; later steps then answer the requests that arrived during it.
 */
const TURN_MS = 10;
/**
 * Maximum total time if all steps are slow, because the later stages of the shutdown also need
 * time.
 */
const SLOW_TURNS_MS = 2_000;
/**
 * Time for settlements, from the start of the shutdown. A settlement takes about a second; a tap
 * that still waits after this time gets `processing`.
 */
const SETTLE_MS = 4_500;
/**
 * Time from the end of `SETTLE_MS` until the remaining requests are cut off. The whole shutdown may
 * take 10 s, and workers stop after the server.
 */
const LAST_ANSWERS_MS = 1_000;

interface Waiting {
  readonly response: ServerResponse;
  readonly controller: AbortController;
  readonly isPoll: boolean;
}

/**
 * The `close` method of Node's HTTP server would also cut idle connections, on which a request may
 * be arriving.
 */
function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}

async function lastRequests(): Promise<void> {
  const end = performance.now() + SLOW_TURNS_MS;
  for (let turns = LAST_REQUESTS_MS / TURN_MS; turns > 0; turns--) {
    await sleep(TURN_MS);
    if (performance.now() > end) break;
  }
  // Node runs timers before it reads sockets. Without this wait, requests that arrived during the
  // last step would be cut off unread.
  await arrivals();
}

/**
 * Returns the milliseconds left for settlements, and then for all requests, when waiting for last
 * requests took `passedMs`. Slow steps do not prolong the shutdown, but even after a block longer
 * than the whole shutdown, the requests that arrived during it get responses.
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
        // Listen to the response, because a listener on a kept-alive socket would outlive the
        // request.
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
