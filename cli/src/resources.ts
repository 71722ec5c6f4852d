import { randomUUID } from 'node:crypto';
import { type List, type Tapline, TaplineError } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import { type Settings, someTerminal } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

/** API fields whose values are always strings. */
const TEXT_FIELDS = new Set(['metadata', 'order_id', 'description', 'reason', 'label', 'url']);

/**
 * Parses `amount=2500000 metadata.table=7`. JSON numbers and literals keep their types; everything
 * else is a string, including the values of string fields of the API.
 */
export function fieldsOf(pairs: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, path = '', text = ''] = /^([\w.]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (path === '') throw new WrongUse(`${pair} is not a name=value pair.`);
    const names = path.split('.');
    const isObject = /^(?:null|[[{].*)$/s.test(text);
    const isText = TEXT_FIELDS.has(names[0] ?? '') && !isObject;
    const isJson = isObject || /^(?:-?\d{1,15}|true|false)$/.test(text);
    const value = isJson && !isText ? JSON.parse(text) : text;
    const last = names.pop() ?? '';
    let target = fields;
    for (const name of names) {
      target[name] = { ...(target[name] as object | undefined) };
      target = target[name] as Record<string, unknown>;
    }
    target[last] = value;
  }
  return fields;
}

type Lister = (tapline: Tapline, query: object) => List<object>;

const LISTS: Readonly<Record<string, Lister>> = {
  payment_intents: (tapline, query) => tapline.paymentIntents.list(query),
  payments: (tapline, query) => tapline.payments.list(query),
  refunds: (tapline, query) => tapline.refunds.list(query),
  terminals: (tapline, query) => tapline.terminals.list(query),
  shifts: (tapline, query) => tapline.shifts.list(query),
  events: (tapline, query) => tapline.events.list(query),
  webhook_endpoints: (tapline) => tapline.webhookEndpoints.list(),
  request_log: (tapline, query) => tapline.requestLog.list(query),
};

/** Lists the newest objects, one per line; complete with `--json`. */
export async function list(
  { tapline, out }: Settings,
  resource: string,
  options: { readonly limit: string; readonly filters: readonly string[] },
): Promise<number> {
  const ask = LISTS[resource];
  if (ask === undefined)
    throw new WrongUse(`Choose one of these lists: ${Object.keys(LISTS).join(', ')}.`);
  const query = { limit: Number(options.limit), ...fieldsOf(options.filters) };
  const { data } = await ask(tapline, query).page;
  for (const one of data) {
    const { id, created = '', status = '' } = one as Record<string, string>;
    out.show(one, `${id}  ${created}  ${status}`.trimEnd());
  }
  return 0;
}

/**
 * Sends any POST request once. To repeat it, pass the same key, which this prints to standard error
 * first.
 */
export async function post(
  settings: Settings,
  path: string,
  options: { readonly fields: readonly string[]; readonly idempotencyKey?: string },
): Promise<number> {
  const { idempotencyKey: key = randomUUID() } = options;
  settings.out.note(`Idempotency-Key: ${key}`);
  const body = fieldsOf(options.fields);
  // A sale needs a terminal; in a sandbox, uses the demo terminal.
  const isSale = /^\/?(v1\/)?payment_intents\/?$/.test(path);
  if (isSale && body.terminal === undefined) body.terminal = await someTerminal(settings);
  const answer = await send(settings, { path, body, key });
  settings.out.show(answer, JSON.stringify(answer, null, 2));
  return 0;
}

export interface Request {
  readonly path: string;
  readonly query?: object;
  /** If there is a body, the request is a POST. */
  readonly body?: object;
  readonly key?: string;
}

/** Sends one request to a path, without retries. */
export async function send(
  { baseUrl, apiKey }: Pick<Settings, 'baseUrl' | 'apiKey'>,
  { path, query = {}, body, key }: Request,
): Promise<object> {
  const below = path.replace(/^\/?(v1\/)?/, '');
  if (!/^[\w/]+$/.test(below)) throw new WrongUse(`${path} is not a path: try payment_intents.`);
  const entries = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    `${value}`,
  ]);
  const search = entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
  const response = await nodeFetch(`${baseUrl.replace(/\/+$/, '')}/v1/${below}${search}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
  });
  const answer = (await response.json()) as { error?: { code: string; message: string } };
  const requestId = response.headers.get('Request-Id');
  if (response.ok) return answer;
  const { code = null, message = `The API answered ${response.status}.` } = answer.error ?? {};
  throw new TaplineError(message, { status: response.status, code, requestId });
}
