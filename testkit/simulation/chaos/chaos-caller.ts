import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import type { Random } from '#testkit/fixtures/core/random.ts';
import type { Journal } from '#testkit/simulation/chaos/chaos-journal.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: { readonly [field: string]: unknown };
}

export interface ChaosAnswer extends Answer {
  readonly replayed: boolean;
}

interface CallerOptions {
  /** API URLs of all nodes, each such as `http://127.0.0.1:1/api/v1`. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly random: Random;
  readonly journal: Journal;
}

/** Time limit of a caller's retries. Longer than any outage in a run. */
const GIVE_UP_MS = 40_000;
const PAUSE_MS = 150;
/**
 * Time-out of a few requests, so short that the client repeats them while the first one is still
 * running.
 */
const SHORT_TIMEOUT_MS = 700;
const TIMEOUT_MS = 35_000;

/**
 * Sends a request once and counts its result. `by` names the client, and `what` the request.
 * @returns the response and its error code; the response is `null` if the result is unknown: no
 * response came in time, or the database was restored before one came and may lack its data
 */
export async function attempt<A extends Answer>(
  { journal, by, what }: { readonly journal: Journal; readonly by: string; readonly what: string },
  send: () => Promise<A>,
): Promise<{ readonly answer: A | null; readonly code: string }> {
  const restores = journal.restores();
  const received = await send().catch(() => null);
  const answer = journal.restores() === restores ? received : null;
  const code = (answer === null ? undefined : errorCodeOf(answer.body)) ?? '';
  journal.count(`${by} ${answer?.status ?? 'none'} ${code}`);
  if (received?.status === 500) journal.complain(`500 to ${what}: ${received.text}`);
  return { answer, code };
}

/**
 * Returns true if the service stores this response under the request's key. It stores none if
 * validation or permissions failed, or while a request with the same key is running.
 */
function holdsKey({ status }: Answer): boolean {
  return status < 300 || status === 404 || status === 409;
}

async function request(url: string, init: RequestInit): Promise<ChaosAnswer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const body = text === '' ? {} : (JSON.parse(text) as ChaosAnswer['body']);
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, text, body, replayed };
}

export type ChaosCaller = ReturnType<typeof openChaosCaller>;

/**
 * Opens a client that follows the API's rules: it repeats a request with the same key until it gets
 * a response. Its functions return `null` if the result is unknown.
 */
export function openChaosCaller({ urls, key: bearer, random, journal }: CallerOptions) {
  /** The number of callers that have sent each key. */
  const senders = new Map<string, number>();
  const send = async (method: string, path: string, body?: unknown, key?: string) => {
    const deadline = performance.now() + GIVE_UP_MS;
    const what = `${method} ${path}`;
    let node = random.below(urls.length);
    // Stays true as long as every response says that the request had no effect.
    let nothingDone = true;
    if (key !== undefined) senders.set(key, (senders.get(key) ?? 0) + 1);
    while (performance.now() < deadline) {
      const hasShortTimeout = key !== undefined && random.chance(4);
      const init: RequestInit = {
        method,
        headers: {
          Authorization: `Bearer ${bearer}`,
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(hasShortTimeout ? SHORT_TIMEOUT_MS : TIMEOUT_MS),
      };
      const { answer, code } = await attempt({ journal, by: 'answer', what }, () =>
        request(`${urls[node % urls.length]}${path}`, init),
      );
      const isDown = answer === null || answer.status >= 500;
      const isBusy = answer?.status === 429 || code === 'idempotency_request_in_progress';
      if (!isDown && !isBusy) {
        if (key !== undefined && holdsKey(answer)) journal.answered(key, answer);
        if (key !== undefined && answer.replayed && nothingDone && senders.get(key) === 1)
          journal.complain(`${what} was done though all answers said it was not`);
        return answer;
      }
      if (code !== 'service_unavailable') nothingDone = false;
      // Tries another node if this one does not respond, as a load balancer would.
      if (isDown) node++;
      await sleep(PAUSE_MS + random.below(PAUSE_MS));
    }
    journal.count('gave up');
    return null;
  };
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown, key = random.key()) => send('POST', path, body, key),
    /** Sends a request without an idempotency key. */
    send: (method: string, path: string, body?: unknown) => send(method, path, body),
  };
}

/** Maximum number of pages to read: enough that other clients add rows in the meantime. */
const PAGES = 5;

/**
 * Pages through a list while other clients write. No object may appear twice.
 * @returns false if a request failed
 */
export async function pageThrough(
  server: Pick<ChaosCaller, 'get'>,
  list: string,
  journal: Pick<Journal, 'complain'>,
): Promise<boolean> {
  const seen = new Set<string>();
  let cursor = '';
  for (let page = 0; page < PAGES; page++) {
    const answer = await server.get(`/${list}?limit=100${cursor}`);
    if (answer?.status !== 200) return false;
    for (const { id } of answer.body.data as { id: string }[]) {
      if (seen.has(id)) journal.complain(`${id} appeared twice in one pagination of ${list}`);
      seen.add(id);
    }
    if (answer.body.next_cursor === null) return true;
    cursor = `&cursor=${encodeURIComponent(String(answer.body.next_cursor))}`;
  }
  return true;
}
