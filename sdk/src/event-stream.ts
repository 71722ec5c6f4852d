import { TaplineError } from './base-error.ts';
import { errorOf } from './error-classes.ts';
import { fetchFor } from './node-fetch.ts';
import { ask, type Connection, headersOf, queryOf, sleep } from './send-with-retries.ts';
import type { WebhookEvent } from './types.ts';

export interface StreamOptions {
  /** Event types and families, separated by commas: `payment.succeeded,refund.*`. @default all */
  readonly types?: string;
  /**
   * Id of the last event that you have seen, or `start` for all of the last 30 days.
   *
   * @default only new events
   */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

/** The position before an account's first event. */
export const START = 'start';
/**
 * The service sends a comment every 15 s; after three missed ones the connection is considered
 * dead.
 */
const SILENT_MS = 45_000;
const POLL_MS = 1_000;
const LONGEST_DELAY_MS = 10_000;

/**
 * Follows events from a position, across reconnects: each resumes after the last yielded event.
 * Without a stream (an older service, or too many open streams) it polls the list once a second.
 */
export async function* followEvents(
  to: Connection,
  { types, after, signal }: StreamOptions,
): AsyncGenerator<WebhookEvent, void, undefined> {
  let last = after === START ? null : (after ?? (await newestEvent(to)));
  let failures = 0;
  let polls = false;
  while (!signal?.aborted) {
    try {
      const events = polls ? eventsBehind(to, last) : streamed(to, { types, last, signal });
      for await (const event of events) {
        failures = 0;
        last = event.id;
        if (!polls || matches(types, event.type)) yield event;
      }
      if (polls) await sleep(POLL_MS, signal);
    } catch (error) {
      if (signal?.aborted) return;
      const { status = null, code = null } = error instanceof TaplineError ? error : {};
      // Services without the stream route interpret `stream` as an event's id.
      const isOld = code === 'parameter_unknown' || (last === null && code === 'cursor_invalid');
      if (status === 404 || status === 429 || isOld) polls = true;
      else if (status !== null && status < 500) throw error;
      await sleep(Math.min(250 * 2 ** failures++, LONGEST_DELAY_MS), signal);
    }
  }
}

interface EventPage {
  readonly data: readonly WebhookEvent[];
  readonly next_cursor: string | null;
}

function eventPage(to: Connection, query: object) {
  return ask<EventPage>(to, { method: 'GET', path: '/events', query, keyed: false });
}

export async function newestEvent(to: Connection): Promise<string | null> {
  return (await eventPage(to, { limit: 1 })).data[0]?.id ?? null;
}

/** Yields the events that follow the event `last`, oldest first. The list is in commit order. */
async function* eventsBehind(to: Connection, last: string | null) {
  const events: WebhookEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await eventPage(to, { limit: 100, cursor });
    const known = page.data.findIndex((event) => event.id === last);
    events.push(...(known < 0 ? page.data : page.data.slice(0, known)));
    cursor = known < 0 ? (page.next_cursor ?? undefined) : undefined;
  } while (cursor !== undefined);
  yield* events.reverse();
}

function matches(types: string | undefined, type: string): boolean {
  if (types === undefined) return true;
  return types.split(',').some((one) => {
    const pattern = one.trim();
    return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
  });
}

interface From {
  readonly types: string | undefined;
  readonly last: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Reads one connection until it ends. */
async function* streamed(to: Connection, { types, last, signal }: From) {
  const control = new AbortController();
  const end = () => control.abort();
  let alarm = setTimeout(end, SILENT_MS);
  signal?.addEventListener('abort', end);
  try {
    const after = last === null ? START : undefined;
    const url = `${to.baseUrl}/v1/events/stream${queryOf({ types, after })}`;
    const headers = {
      ...headersOf(to),
      Accept: 'text/event-stream',
      ...(last === null ? {} : { 'Last-Event-ID': last }),
    };
    const response = await (to.options.fetch ?? fetchFor(url))(url, {
      headers,
      signal: control.signal,
    });
    if (!response.ok || response.body === null) {
      throw errorOf(response, await response.json().catch(() => null));
    }
    for await (const block of blocksOf(response.body)) {
      clearTimeout(alarm);
      alarm = setTimeout(end, SILENT_MS);
      const data = block.split('\n').find((line) => line.startsWith('data:'));
      if (data !== undefined) yield JSON.parse(data.slice('data:'.length)) as WebhookEvent;
    }
  } finally {
    clearTimeout(alarm);
    signal?.removeEventListener('abort', end);
    control.abort();
  }
}

/** Splits the text at empty lines. */
async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = '';
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: string };
    if (done) return;
    const blocks = (text + value).replaceAll('\r', '').split('\n\n');
    text = blocks.pop() ?? '';
    yield* blocks;
  }
}
