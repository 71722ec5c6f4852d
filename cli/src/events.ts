import type { Event, ListEventsQuery, Tapline } from 'tapline';
import { checkReceiver, forward, isDelivered, listenSecret, wordsOf } from './forward-events.ts';
import { askListeners } from './resend-sockets.ts';
import type { Settings } from './settings.ts';
import { secondsOf } from './simulate-customer.ts';
import { WrongUse } from './wrong-use.ts';

export interface EventsOptions {
  readonly type?: string;
  readonly limit: string;
}

export async function events({ tapline, out }: Settings, options: EventsOptions): Promise<number> {
  const { type } = options;
  const limit = Number(options.limit);
  const query = { limit, ...(type ? { type } : {}) } as ListEventsQuery;
  const { data } = await tapline.events.list(query).page;
  for (const event of data) out.show(event, `${event.created}  ${event.type}  ${event.id}`);
  return 0;
}

/**
 * Reads an object by its id, whose prefix tells its type. @returns `null` for an unknown prefix.
 */
function reader(tapline: Tapline, id: string): Promise<object> | null {
  switch (id.split('_')[0]) {
    case 'pi':
      return tapline.paymentIntents.retrieve(id);
    case 'pay':
      return tapline.payments.retrieve(id);
    case 're':
      return tapline.refunds.retrieve(id);
    case 'ofp':
      return tapline.offlinePayments.retrieve(id);
    case 'tml':
      return tapline.terminals.retrieve(id);
    case 'shf':
      return tapline.shifts.retrieve(id);
    case 'evt':
      return tapline.events.retrieve(id);
    case 'we':
      return tapline.webhookEndpoints.retrieve(id);
    case 'wdl':
      return tapline.webhookDeliveries.retrieve(id);
    case 'wrp':
      return tapline.webhookEndpoints.retrieveReplay(id);
    case 'balance':
      return tapline.balance.retrieve();
    default:
      return null;
  }
}

export async function get({ tapline, out }: Settings, id: string): Promise<number> {
  const object = await reader(tapline, id);
  if (object === null) {
    throw new WrongUse(
      `${id} is not an id: use pi_…, pay_…, re_…, ofp_…, tml_…, shf_…, evt_…, we_…, wdl_…, ` +
        'wrp_… or balance.',
    );
  }
  out.show(object, JSON.stringify(object, null, 2));
  return 0;
}

/**
 * Sends an event again. The network resends a delivery (`wdl_…`), or an event to one endpoint.
 * Without `--endpoint`, running `listen` commands on this machine forward the event again.
 */
export async function resend(
  settings: Settings,
  id: string,
  endpoint: string | undefined,
): Promise<number> {
  const { tapline, out } = settings;
  if (id.startsWith('wdl_') || endpoint !== undefined) {
    const delivery = id.startsWith('wdl_') ? id : await deliveryOf(tapline, id, endpoint ?? '');
    const sent = await tapline.webhookDeliveries.retry(delivery);
    const how = sent.response_status ?? sent.error ?? 'pending';
    out.show(sent, `${sent.id}  ${sent.status}  ${how}`);
    return sent.status === 'failed' ? 1 : 0;
  }
  await tapline.events.retrieve(id);
  const answers = await askListeners(settings, id);
  if (answers.length === 0) {
    throw new Error(
      'No listener is running on this machine. Run `tapline listen --forward-to …` ' +
        'or pass --endpoint.',
    );
  }
  for (const answer of answers)
    out.show({ event: id, forward: answer }, `${id}  ${wordsOf(answer)}`);
  return answers.every(isDelivered) ? 0 : 1;
}

async function deliveryOf(tapline: Tapline, event: string, endpoint: string): Promise<string> {
  for await (const delivery of tapline.webhookEndpoints.deliveries(endpoint, { limit: 100 })) {
    if (delivery.event === event) return delivery.id;
  }
  throw new Error(
    `${event} was never delivered to ${endpoint}. Check the event types of the endpoint.`,
  );
}

export interface ReplayOptions {
  readonly since: string;
  readonly until?: string;
  readonly types?: string;
  readonly endpoint?: string;
  readonly forwardTo?: string;
}

/** Parses a point in time, or an age such as `2h`. */
function timeOf(given: string): string {
  const time = /^\d+[smhd]?$/.test(given)
    ? Date.now() - secondsOf(given) * 1_000
    : Date.parse(given);
  if (Number.isNaN(time))
    throw new WrongUse(`${given} is not a time: try 1h, or 2026-10-01T12:00:00Z.`);
  return new Date(time).toISOString();
}

/** Sends all events of a period again, to an endpoint or to a receiver on this machine. */
export async function replay(settings: Settings, options: ReplayOptions): Promise<number> {
  const since = timeOf(options.since);
  const until = options.until === undefined ? undefined : timeOf(options.until);
  if (options.forwardTo !== undefined) return replayHere(settings, { ...options, since, until });
  const { tapline, out } = settings;
  const endpoint = options.endpoint ?? (await onlyEndpoint(tapline));
  const types = options.types?.split(',');
  let state = await tapline.webhookEndpoints.replay(endpoint, {
    since,
    ...(until === undefined ? {} : { until }),
    ...(types === undefined ? {} : { types }),
  });
  while (state.status !== 'completed') {
    await new Promise((resolve) => setTimeout(resolve, 500));
    state = await tapline.webhookEndpoints.retrieveReplay(state.id);
  }
  out.show(state, `${state.events_queued} events queued for ${endpoint}`);
  return 0;
}

async function onlyEndpoint(tapline: Tapline): Promise<string> {
  const { data } = await tapline.webhookEndpoints.list().page;
  const [only, ...others] = data;
  if (only !== undefined && others.length === 0) return only.id;
  const ids = data.map(({ id }) => id).join(', ') || 'none yet';
  throw new WrongUse(`Specify a target: --forward-to URL, or --endpoint with one of ${ids}.`);
}

interface Span {
  readonly since: string;
  readonly until: string | undefined;
  readonly types?: string;
  readonly forwardTo?: string;
}

async function replayHere(settings: Settings, span: Span): Promise<number> {
  const { tapline, out } = settings;
  const url = checkReceiver(span.forwardTo ?? '');
  const secret = listenSecret(settings.apiKey);
  const selected = span.types?.split(',');
  const events: Event[] = [];
  const query = { created_gte: span.since, ...(span.until ? { created_lt: span.until } : {}) };
  for await (const event of tapline.events.list({ ...query, limit: 100 })) {
    if (selected === undefined || selected.some((one) => fits(one, event.type))) events.push(event);
  }
  let delivered = 0;
  for (const event of events.reverse()) {
    const result = await forward(event, { url, secret, tries: 1 });
    if (isDelivered(result)) delivered++;
    out.show(
      { event: event.id, type: event.type, forward: result },
      `${event.id}  ${wordsOf(result)}`,
    );
  }
  out.note(`${delivered} of ${events.length} events delivered.`);
  return delivered === events.length ? 0 : 1;
}

function fits(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}
