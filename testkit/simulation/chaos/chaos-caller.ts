import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import type { Random } from '#testkit/fixtures/core/random.ts';
import type { Journal } from '#testkit/simulation/chaos/chaos-journal.ts';

/**
 * A client that follows the API's rules: it repeats a request with the same key until it gets a
 * response.
 */
export interface ChaosCaller {
  get(path: string): Promise<ChaosAnswer | null>;
  /**
   * Sends a request.
   * @returns `null` if the result is unknown: no response came in time, or the database was
   * restored before one came
   */
  post(path: string, body?: unknown, key?: string): Promise<ChaosAnswer | null>;
  send(method: string, path: string, body?: unknown): Promise<ChaosAnswer | null>;
}

export interface ChaosAnswer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly body: { readonly [field: string]: unknown };
}

export interface CallerOptions {
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

/** Returns true if the client must repeat the request to learn its result. */
function isOpen(answer: ChaosAnswer): boolean {
  if (answer.status >= 500 || answer.status === 429) return true;
  return errorCodeOf(answer.body) === 'idempotency_request_in_progress';
}

/**
 * Returns true if the service stores this response under the request's key. It stores none if
 * validation or permissions failed, or while a request with the same key is running.
 */
function holdsKey(answer: ChaosAnswer): boolean {
  return answer.status < 300 || answer.status === 404 || answer.status === 409;
}

async function attempt(url: string, init: RequestInit): Promise<ChaosAnswer | null> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    const body = text === '' ? {} : (JSON.parse(text) as ChaosAnswer['body']);
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, text, body, replayed };
  } catch {
    // The connection failed or timed out, so the result is unknown.
    return null;
  }
}

export function openChaosCaller(options: CallerOptions): ChaosCaller {
  const { urls, key: bearer, random, journal } = options;
  /** The number of callers that have sent each key. */
  const senders = new Map<string, number>();
  const send = async (method: string, path: string, body?: unknown, key?: string) => {
    const deadline = performance.now() + GIVE_UP_MS;
    let node = random.below(urls.length);
    // Stays true as long as every response says that the request had no effect.
    let nothingDone = true;
    if (key !== undefined) senders.set(key, (senders.get(key) ?? 0) + 1);
    while (performance.now() < deadline) {
      const hasShortTimeout = key !== undefined && random.chance(4);
      const restores = journal.restores();
      const received = await attempt(`${urls[node % urls.length]}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${bearer}`,
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(hasShortTimeout ? SHORT_TIMEOUT_MS : TIMEOUT_MS),
      });
      // Discards a response from before a restore, because the restored database may lack its data.
      const answer = journal.restores() === restores ? received : null;
      const code = (answer === null ? undefined : errorCodeOf(answer.body)) ?? '';
      journal.count(`answer ${answer?.status ?? 'none'} ${code}`);
      if (received?.status === 500) journal.complain(`500 to ${method} ${path}: ${received.text}`);
      if (answer !== null && !isOpen(answer)) {
        if (key !== undefined && holdsKey(answer)) journal.answered(key, answer);
        if (key !== undefined && answer.replayed && nothingDone && senders.get(key) === 1) {
          journal.complain(`${method} ${path} was done though all answers said it was not`);
        }
        return answer;
      }
      if (code !== 'service_unavailable') nothingDone = false;
      // Tries another node if this one does not respond, as a load balancer would.
      if (answer === null || answer.status >= 500) node++;
      await sleep(PAUSE_MS + random.below(PAUSE_MS));
    }
    journal.count('gave up');
    return null;
  };
  return {
    get: (path) => send('GET', path),
    post: (path, body, key = random.key()) => send('POST', path, body, key),
    send: (method, path, body) => send(method, path, body),
  };
}
