import type { Event, WebhookEvent } from 'tapline';
import {
  checkReceiver,
  type Forwarded,
  forward,
  isDelivered,
  listenSecret,
  wordsOf,
} from './forward-events.ts';
import { acceptResends } from './resend-sockets.ts';
import type { Settings } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

export interface ListenOptions {
  /** URLs, or `types=URL`. */
  readonly forwardTo: readonly string[];
  /** `Name: value` */
  readonly header: readonly string[];
  readonly events?: string;
  readonly printSecret?: boolean;
  readonly after?: string;
  /**
   * Exits with 0 once an event of this type has arrived and has been delivered, if it is forwarded.
   */
  readonly until?: string;
  /** In seconds. Exits with 1 if no event of type `until` has arrived by then. */
  readonly timeout?: string;
}

/**
 * Prints events as they arrive. With receivers on this machine, signs and forwards the events to
 * them.
 */
export async function listen(settings: Settings, options: ListenOptions): Promise<number> {
  const { out, tapline } = settings;
  const secret = listenSecret(settings.apiKey);
  if (options.printSecret === true) {
    out.show({ secret }, secret);
    return 0;
  }
  const receivers = options.forwardTo.map(receiverOf);
  const headers = extraHeaders(options.header);
  const ends = endOf(options);
  // Reads the current position before reporting that it is ready, so that no later event is missed.
  const after = options.after ?? (await tapline.events.list({ limit: 1 }).page).data[0]?.id;
  const deliver = async (event: Event | WebhookEvent): Promise<Forwarded | null> => {
    const to = receivers.filter(({ takes }) => takes(event.type));
    const results = await Promise.all(
      to.map(({ url }) => forward(event, { url, secret, headers })),
    );
    const words = results.map((result) => `  ->  ${wordsOf(result)}`).join('');
    const [first = null] = results;
    // If there are several receivers, one failed delivery makes the result a failure.
    const result = results.find((one) => !isDelivered(one)) ?? first;
    const line = `${event.created}  ${event.type}  ${event.id}${words}`;
    out.show(
      { event, forward: result, ...(results.length > 1 ? { forwards: results } : {}) },
      line,
    );
    return result;
  };
  const { close, missing } = await acceptResends(settings, async (id) => {
    const result = await deliver(await tapline.events.retrieve(id));
    return (
      result ?? {
        status: null,
        error: 'listening; nothing is forwarded without --forward-to',
        duration_ms: 0,
      }
    );
  });
  const urls = receivers.map(({ url }) => url);
  const to = urls.length === 0 ? 'Listening' : `Forwarding to ${urls.join(', ')}`;
  out.show(
    { ready: true, forward_to: urls[0] ?? null, secret, after: after ?? null },
    `${to}. Secret: ${secret}`,
  );
  if (missing !== null) out.note(`\`tapline resend\` cannot reach this window: ${missing}.`);
  try {
    return await follow(settings, { options, after, deliver, ends });
  } finally {
    close();
  }
}

interface Receiver {
  readonly url: string;
  readonly takes: (type: string) => boolean;
}

/** Parses `3000`, or `payment.*,refund.failed=3000`. Event types never contain a colon, URLs do. */
function receiverOf(given: string): Receiver {
  const [, types, to = given] = /^([\w.*,]+)=(.+)$/.exec(given) ?? [];
  const patterns = types?.split(',') ?? ['*'];
  const takes = (type: string) =>
    patterns.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : one === type));
  return { url: checkReceiver(to), takes };
}

/** Headers that are signed or describe the message cannot be overridden. */
function extraHeaders(given: readonly string[]): Record<string, string> {
  const pairs = given.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([\w-]+):\s*([^\r\n]*)$/.exec(line) ?? [];
    if (name === '') throw new WrongUse(`--header takes 'Name: value', not ${line}.`);
    if (/^(service-|webhook-|content-|host$)/i.test(name)) {
      throw new WrongUse(`${name} is set by the network and cannot be overridden.`);
    }
    return [name, value];
  });
  return Object.fromEntries(pairs);
}

interface Ends {
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
}

/** Returns a signal that aborts at Ctrl-C or at the time-out. */
function endOf({ timeout, until }: ListenOptions): Ends {
  const control = new AbortController();
  const stop = () => control.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  if (timeout === undefined) return { signal: control.signal, timedOut: () => false };
  const seconds = Number(timeout);
  if (!(seconds > 0)) throw new WrongUse(`--timeout takes seconds, not ${timeout}.`);
  // Uses a timer, because before version 22, Node garbage-collects a signal from AbortSignal.any
  // that nothing else references.
  let isOver = false;
  const expire = () => {
    isOver = true;
    control.abort();
  };
  setTimeout(expire, seconds * 1_000).unref();
  return { signal: control.signal, timedOut: () => isOver && until !== undefined };
}

interface Following {
  readonly options: ListenOptions;
  readonly after: string | undefined;
  readonly deliver: (event: WebhookEvent) => Promise<Forwarded | null>;
  readonly ends: Ends;
}

async function follow(
  settings: Settings,
  { options, after, deliver, ends }: Following,
): Promise<number> {
  const { events: types, until } = options;
  const { signal } = ends;
  /**
   * Deliveries in progress: a slow receiver must not delay other events. Their limit is the same as
   * the network's.
   */
  const underWay = new Set<Promise<unknown>>();
  const stream = settings.tapline.events.stream({
    signal,
    ...(types === undefined ? {} : { types }),
    ...(after === undefined ? {} : { after }),
  });
  for await (const event of stream) {
    const delivered = deliver(event);
    if (event.type === until) {
      const result = await delivered;
      await Promise.all(underWay);
      return result === null || isDelivered(result) ? 0 : 1;
    }
    underWay.add(delivered);
    delivered.finally(() => underWay.delete(delivered));
    if (underWay.size >= 8) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  if (ends.timedOut()) settings.out.note(`No ${until} arrived within ${options.timeout} s.`);
  return ends.timedOut() ? 1 : 0;
}
