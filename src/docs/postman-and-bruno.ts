import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  exampleOf,
  parametersOf,
} from '#docs/api-document.ts';
import type { Entry } from '#docs/tar-and-zip.ts';

/**
 * Creates the merchant API's collections for Postman and Bruno from its OpenAPI document. Both
 * programs can import that document, but then requests lack a key, a fresh idempotency key and real
 * IDs. Here, the ID in a response goes into the variable that the next request uses. Readers must
 * set the API key, which is never included.
 */
const SANDBOX = 'http://127.0.0.1:4242/api';
const JSON_TYPE = 'application/json';

interface Field {
  readonly name: string;
  readonly value: string;
  readonly about: string;
}

/** A request in the form that both programs need. Both write a variable as `{{name}}`. */
interface Wanted {
  readonly endpoint: Endpoint;
  /** `{{base_url}}/v1/payments/{{payment}}`. */
  readonly url: string;
  readonly headers: readonly Field[];
  /** Filters of a list, disabled until the user enables them. */
  readonly filters: readonly Field[];
  readonly body: string | null;
  /** The variable that stores the created object's id. */
  readonly keeps: string | null;
}

/** Turns `payment_intents` into `payment_intent`; also handles `deliveries` and `passes`. */
function singular(plural: string): string {
  return plural
    .replace(/ies$/, 'y')
    .replace(/sses$/, 'ss')
    .replace(/(?<!s)s$/, '');
}

/** Returns the kind of object that a path is about: its last part, not counting variables. */
function objectOf(path: string): string {
  return singular(path.split('/').at(-1) ?? '');
}

/**
 * Replaces example ids, which do not exist, with variables named after their fields. Each run needs
 * a new order id, because an order can be paid only once; both programs define these variables.
 */
function withVariables(example: unknown): string {
  const order = '"order_id": "{{$randomInt}}{{$randomInt}}"';
  const text = JSON.stringify(example, null, 2).replace(/"order_id": "[^"]+"/, order);
  return text.replaceAll(/"(\w+)": "[a-z]{2,5}_[0-9A-Za-z]{10,}"/g, '"$1": "{{$1}}"');
}

function wantedOf(endpoint: Endpoint, document: ApiDocument): Wanted {
  const { path, method } = endpoint;
  const parameters = parametersOf(endpoint, document);
  const headers = parameters.flatMap(({ name, schema }) => {
    if (name === 'Idempotency-Key') return [{ name, value: '{{$guid}}', about: '' }];
    const [newest] = name === 'Service-Version' ? (schema.enum ?? []) : [];
    return newest === undefined ? [] : [{ name, value: String(newest), about: '' }];
  });
  const filters = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema, description }) => {
      return { name, value: String(schema.default ?? ''), about: description ?? '' };
    });
  const example = exampleOf(endpoint.requestBody?.content[JSON_TYPE]);
  const makes = method === 'POST' && /^\/v1\/[a-z_]+$/.test(path);
  const below = path.replaceAll(/\/([a-z_]+)\/\{\w+\}/g, (_, plural: string) => {
    return `/${plural}/{{${singular(plural)}}}`;
  });
  return {
    ...{ endpoint, headers, filters, url: `{{base_url}}${below}` },
    body: example === undefined ? null : withVariables(example),
    keeps: makes ? objectOf(path) : null,
  };
}

function allWanted(document: ApiDocument): Wanted[] {
  return endpointsOf(document).map((endpoint) => wantedOf(endpoint, document));
}

/**
 * Returns the variables that requests use, except the two that readers set and those built into the
 * programs.
 */
function variablesOf(all: readonly Wanted[]): string[] {
  const texts = all.flatMap(({ url, body }) => [url, body ?? '']);
  const names = texts.flatMap((text) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, one]) => one));
  return [...new Set(names)].filter((one) => one !== undefined && one !== 'base_url') as string[];
}

function groupsOf(all: readonly Wanted[]): Map<string, Wanted[]> {
  return Map.groupBy(all, ({ endpoint }) => endpoint.tags[0] ?? 'Other');
}

function postmanItem({ endpoint, url, headers, filters, body, keeps }: Wanted): object {
  const [host = '', ...path] = url.split('/');
  const keep = [
    'const made = pm.response.code < 300 ? pm.response.json() : {};',
    `if (made.id) pm.collectionVariables.set('${keeps}', made.id);`,
  ];
  const language = { raw: { language: 'json' } };
  return {
    name: endpoint.summary,
    request: {
      method: endpoint.method,
      header: [
        ...headers.map(({ name, value }) => ({ key: name, value })),
        ...(body === null ? [] : [{ key: 'Content-Type', value: JSON_TYPE }]),
      ],
      ...(body === null ? {} : { body: { mode: 'raw', raw: body, options: language } }),
      url: {
        ...{ raw: url, host: [host], path },
        query: filters.map(({ name, value, about }) => {
          return { key: name, value, description: about, disabled: true };
        }),
      },
      description: endpoint.description ?? '',
    },
    ...(keeps === null
      ? {}
      : { event: [{ listen: 'test', script: { type: 'text/javascript', exec: keep } }] }),
  };
}

/**
 * Creates one file in Postman's format 2.1, which Insomnia, Hoppscotch and others can also read.
 */
export function postmanCollection(document: ApiDocument): Buffer {
  const all = allWanted(document);
  const empty = ['api_key', ...variablesOf(all)].map((key) => ({ key, value: '' }));
  const collection = {
    info: {
      name: document.info.title,
      description:
        'Set base_url to the address of your network, with /api, and api_key to a test key. Set ' +
        'them as current values, which are not shared. Set terminal to the ID of your terminal.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    variable: [{ key: 'base_url', value: SANDBOX }, ...empty],
    item: [...groupsOf(all)].map(([name, requests]) => ({ name, item: requests.map(postmanItem) })),
  };
  return Buffer.from(`${JSON.stringify(collection, null, 2)}\n`);
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function block(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${name} {\n${indented(lines.join('\n'))}\n}\n`];
}

function brunoRequest({ endpoint, url, headers, filters, body, keeps }: Wanted, at: number) {
  const { method, summary, description } = endpoint;
  const mode = body === null ? 'none' : 'json';
  return [
    ...block('meta', [`name: ${summary}`, 'type: http', `seq: ${at + 1}`]),
    ...block(method.toLowerCase(), [`url: ${url}`, `body: ${mode}`, 'auth: inherit']),
    ...block(
      'params:query',
      filters.map(({ name, value }) => `~${name}: ${value}`),
    ),
    ...block(
      'headers',
      headers.map(({ name, value }) => `${name}: ${value}`),
    ),
    ...block('body:json', body === null ? [] : [body]),
    ...block('vars:post-response', keeps === null ? [] : [`${keeps}: res.body.id`]),
    ...block('docs', description === undefined ? [] : [description]),
  ].join('\n');
}

/**
 * Creates a folder for Bruno. The key is one of its secrets, which it never stores in the files.
 */
export function brunoCollection(document: ApiDocument): Entry[] {
  const all = allWanted(document);
  const name = document.info.title;
  const variables = variablesOf(all);
  const tokens = variables.filter((one) => one.endsWith('_token'));
  const plain = variables.filter((one) => !tokens.includes(one));
  const environment = [
    ...block('vars', [`base_url: ${SANDBOX}`, ...plain.map((one) => `${one}: `)]),
    `vars:secret [\n${indented(['api_key', ...tokens].join(',\n'))}\n]\n`,
  ].join('');
  const requests = [...groupsOf(all)].flatMap(([group, requests]) =>
    requests.map((one, at) => {
      return [`${group}/${one.endpoint.operationId}.bru`, brunoRequest(one, at)] as const;
    }),
  );
  const manifest = { version: '1', name, type: 'collection', ignore: ['.git', 'node_modules'] };
  const files: (readonly [string, string])[] = [
    ['bruno.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['collection.bru', 'auth {\n  mode: bearer\n}\n\nauth:bearer {\n  token: {{api_key}}\n}\n'],
    ['environments/Network.bru', environment],
    ...requests,
  ];
  return files.map(([file, text]) => ({ name: `tapline/${file}`, bytes: Buffer.from(text) }));
}
