import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '#testing/chaos/chaos-journal.ts';
import { errorCodeOf } from '#testing/error-code.ts';
import type { Random } from '#testing/random.ts';

/** A client that follows the API's rules: the same key until there is an answer. */
export interface ChaosCaller {
  get(path: string): Promise<ChaosAnswer | null>;
  /**
   * Sends a request.
   * @returns `null` if no answer came in time, or only after the database was restored; then the
   * result is unknown.
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
  /** `http://127.0.0.1:1/api/v1` of every node. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly random: Random;
  readonly journal: Journal;
}

/** The time for which a caller retries: longer than the outages of a run. */
const GIVE_UP_MS = 40_000;
const PAUSE_MS = 150;
/**
 * A short time-out for some requests, so that a client repeats a request while the first is still
 * running.
 */
const SHORT_TIMEOUT_MS = 700;
const TIMEOUT_MS = 35_000;

/** True if the request must be repeated to learn its result. */
function isOpen(answer: ChaosAnswer): boolean {
  if (answer.status >= 500 || answer.status === 429) return true;
  return errorCodeOf(answer.body) === 'idempotency_request_in_progress';
}

/**
 * True if the service stores the answer under its key: not for refused validation or permissions,
 * or while a request with the key still runs.
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
    // The connection was refused or cut, or timed out, so the result is unknown.
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
    // True if every answer so far means that nothing was done.
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
      // Discards an answer of the lost database, which says nothing about the restored one.
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
      // Skips a node that does not answer, as a load balancer does.
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
