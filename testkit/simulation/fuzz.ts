import fc from 'fast-check';
import { newSecret } from '#core/bearer-secrets.ts';

type Doc = { readonly [key: string]: unknown };

/** A request as raw bytes, as a faulty or hostile client might send it. */
export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

interface Schema {
  /** A list if the value may also have another type, such as null. */
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly pattern?: string;
  readonly format?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json'?: { readonly schema: Schema } };
  };
}

/**
 * Existing ids by prefix, and values for path parameters such as `{token}`. With them, a request
 * with only one mistake gets past the first checks.
 */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u0001\u001f\u007f',
  '\ud800',
  'x\udfffy',
  '😀'.repeat(250),
  '\u202egnp.exe',
  'ﷺ'.repeat(30),
  "'; drop table payments; --",
  '#{7*7}{{7*7}}',
  '../../../etc/passwd',
  '<script>alert(1)</script>',
  'null',
  'undefined',
  'NaN',
  '-0',
  '1e400',
  '%00%ff',
  'constructor',
  '__proto__',
  'x'.repeat(501),
  'y'.repeat(5_000),
];

const HOSTILE_NUMBERS = (
  '0 -0 -1 1 1.0 1e0 2.5e6 1.5 1e-7 0.1 1e12 1000000000001 ' +
  '1e400 -1e400 9007199254740993 1e15 99999999999999999999999 5e-324 0.30000000000000004'
).split(' ');

const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'amount',
  'a.b',
  'é',
  '\0',
  '$ref',
  'x'.repeat(100),
];

/** Generates unexpected JSON text. */
const hostileJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_NUMBERS),
  fc.constantFrom(...HOSTILE_TEXTS).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    'null',
    'true',
    'false',
    '[]',
    '{}',
    '[[]]',
    '{"a":{}}',
    '[1,2]',
    '{"a":1,"a":2}',
  ),
  fc.constantFrom(40, 400, 4_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.json({ maxDepth: 3 }),
);

function pickId(pattern: string | undefined, known: KnownIds): fc.Arbitrary<string> | null {
  const prefix = /^\^([a-z]+_)/.exec(pattern ?? '')?.[1];
  if (prefix === undefined) return null;
  const ids = known[prefix] ?? [];
  const madeUp = `${prefix}01QzXo0KcV5sVQ2pWm8Tn3`;
  return fc.constantFrom(...ids, ...ids, madeUp, `${prefix}1`, `${prefix}${'0'.repeat(80)}`);
}

/** Generates JSON that usually matches the schema. */
function fittingJson(schema: Schema, known: KnownIds, name = ''): fc.Arbitrary<string> {
  const inner = schema.anyOf?.[0];
  if (inner !== undefined) return fittingJson(inner, known, name);
  if (name === 'url') {
    // Uses only literal IP addresses, because the service would look up host names, and the run
    // must not need a network.
    const urls = [
      'http://127.0.0.1:8080/',
      'https://10.0.0.1/',
      'http://[::1]/',
      'https://192.0.2.1/x',
    ];
    return fc.constantFrom(...urls).map((url) => JSON.stringify(url));
  }
  // Long polls wait a second at most, because waiting longer would test nothing.
  if (name === 'wait') return fc.constantFrom('0', '1');
  if (schema.const !== undefined) return fc.constant(JSON.stringify(schema.const));
  if (name === 'enabled_events' || name === 'types') {
    return fc.constantFrom('["*"]', '["payment.*"]', '["refund.created","ping"]');
  }
  if (schema.enum !== undefined)
    return fc.constantFrom(...schema.enum).map((one) => JSON.stringify(one));
  const id = pickId(schema.pattern, known);
  if (id !== null) return id.map((one) => JSON.stringify(one));
  const [type, other] = [schema.type ?? []].flat();
  if (other === 'null') {
    const value = fittingJson({ ...schema, ...(type && { type }) }, known, name);
    return fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant('null') });
  }
  switch (type) {
    case 'integer': {
      const { minimum = 0, maximum = 1_000_000 } = schema;
      return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }).map(String);
    }
    case 'boolean':
      return fc.boolean().map(String);
    case 'array':
      return fc
        .array(fittingJson(schema.items ?? {}, known), { minLength: 1, maxLength: 3 })
        .map((items) => `[${items.join(',')}]`);
    case 'object':
      return objectJson(schema, known);
    case 'string':
      return fittingText(schema, name, known).map((text) => JSON.stringify(text));
    default:
      return fc
        .string({ maxLength: Math.min(schema.maxLength ?? 20, 20) })
        .map((s) => JSON.stringify(s));
  }
}

function fittingText(schema: Schema, name: string, known: KnownIds): fc.Arbitrary<string> {
  if (schema.format === 'date-time') {
    return fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString());
  }
  if (name === 'email') return fc.emailAddress();
  if (name === 'order_id') return fc.uuid().map((uuid) => uuid.slice(0, 8));
  if (name === 'agent_token') return fc.constant('').map(() => newSecret('agentToken'));
  if (name === 'value') return tappedText(known);
  if (name === 'pass') return fc.constantFrom(...(known.nfc_ ?? ['nfc_unknown']));
  if (name === 'cursor') return fc.constantFrom('', 'AAAA', 'x'.repeat(1_024));
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  return fc.string({ maxLength: Math.min(schema.maxLength ?? 20, 20) });
}

/**
 * Generates an object with most of its fields. Sometimes, one is invalid, unknown or duplicated.
 */
function objectJson(schema: Schema, known: KnownIds): fc.Arbitrary<string> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, member]) =>
    fc.oneof(
      { weight: 20, arbitrary: fittingJson(member, known, name).map((text) => [name, text]) },
      { weight: 1, arbitrary: hostileJson.map((text) => [name, text]) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  );
  const extra = fc.oneof(
    { weight: 15, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...HOSTILE_KEYS), hostileJson) },
  );
  return fc.tuple(fc.tuple(...fields), extra).map(([members, more]) => {
    const texts = [...members, more].flatMap((member) =>
      member === null ? [] : [`${JSON.stringify(member[0])}:${member[1]}`],
    );
    return `{${texts.join(',')}}`;
  });
}

function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 30, arbitrary: text.map((one) => Buffer.from(one)) },
    { weight: 1, arbitrary: hostileJson.map((one) => Buffer.from(one)) },
    { weight: 1, arbitrary: fc.tuple(text, fc.nat()).map(([one, at]) => cut(one, at)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(text, fc.nat(), fc.nat(255))
        .map(([one, at, byte]) => flip(one, at, byte)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  );
}

function cut(text: string, at: number): Buffer {
  return Buffer.from(text).subarray(0, at % (text.length + 1));
}

function flip(text: string, at: number, byte: number): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 0) bytes.writeUInt8(byte, at % bytes.length);
  return bytes;
}

/** Generates text for a URL. It is not escaped, so the server's parser gets it as it is. */
const hostileUrlText = fc.oneof(
  fc.constantFrom('%', '%zz', '%ff', '%00', '%ed%a0%80', '+', 'a%20b', '..', 'x'.repeat(900)),
  fc.string({ maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

function queryText(parameters: readonly Parameter[], known: KnownIds): fc.Arbitrary<string> {
  const pairs = parameters.map(({ name, schema }) =>
    fc.oneof(
      { weight: 20, arbitrary: fc.constant(null) },
      {
        weight: 5,
        arbitrary: fittingJson(schema, known, name).map(
          (text) => `${name}=${encodeURIComponent(unquoted(text))}`,
        ),
      },
      { weight: 1, arbitrary: hostileUrlText.map((text) => `${name}=${text}`) },
    ),
  );
  const extra = fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: hostileUrlText.map((text) => `${text}=${text}`) },
    { weight: 1, arbitrary: fc.constantFrom('limit=1&limit=2', '&&', '=', 'a[]=1', 'cursor=AAAA') },
  );
  return fc
    .tuple(...pairs, extra)
    .map((all) => all.filter((pair) => pair !== null).join('&'))
    .map((text) => (text === '' ? '' : `?${text}`));
}

function unquoted(json: string): string {
  const value: unknown = JSON.parse(json);
  return (typeof value === 'string' ? value : json).toWellFormed();
}

function pathText(
  template: string,
  parameters: readonly Parameter[],
  known: KnownIds,
): fc.Arbitrary<string> {
  const values = parameters.map(({ name, schema }) => {
    const named = known[`{${name}}`] ?? schema.enum ?? ['known-key', 'never'];
    const id = pickId(schema.pattern, known) ?? fc.constantFrom(...named);
    return fc.oneof({ weight: 9, arbitrary: id }, { weight: 1, arbitrary: hostileUrlText });
  });
  return fc
    .tuple(...values)
    .map((texts) =>
      parameters.reduce(
        (path, { name }, i) => path.replace(`{${name}}`, String(texts[i] ?? '')),
        template,
      ),
    );
}

const idempotencyKeys = fc.oneof(
  { weight: 8, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.constantFrom('same-1', 'same-2', 'same-3') },
  { weight: 1, arbitrary: fc.constantFrom('', 'x'.repeat(256), 'é', 'a\tb', ' lead', 'a, b') },
  { weight: 1, arbitrary: fc.constant(null) },
);

const contentTypes = fc.oneof(
  { weight: 15, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json;charset=utf-16',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/',
      ';',
    ),
  },
);

const serviceVersions = fc.oneof(
  { weight: 20, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('2026-09-28', '2026-09-29', '', 'latest') },
);

function resolve(document: Doc, parameter: Parameter): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  if (name === undefined) return parameter;
  const { parameters } = document.components as { parameters: Record<string, Parameter> };
  return parameters[name] ?? parameter;
}

/** Generates requests to every operation of the document, most of them nearly valid. */
export function fuzzRequests(document: Doc, known: KnownIds): fc.Arbitrary<FuzzRequest> {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const operations = Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const parameters = (operation.parameters ?? []).map((one) => resolve(document, one));
      const schema = operation.requestBody?.content['application/json']?.schema;
      const noBody = fc.oneof(
        { weight: 9, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: damaged(fc.constant('{}')) },
      );
      const takesBody = method !== 'get';
      return fc
        .record({
          path: pathText(
            `/api${template}`,
            parameters.filter((one) => one.in === 'path'),
            known,
          ),
          query: queryText(
            parameters.filter((one) => one.in === 'query'),
            known,
          ),
          key: idempotencyKeys,
          type: contentTypes,
          version: serviceVersions,
          body:
            schema === undefined
              ? takesBody
                ? noBody
                : fc.constant(null)
              : damaged(objectJson(schema, known)),
        })
        .map(({ path, query, key, type, version, body }) => ({
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path: path + query,
          headers: {
            ...(key === null || !takesBody ? {} : { 'idempotency-key': key }),
            ...(version === null ? {} : { 'service-version': version }),
            ...(body === null ? {} : { 'content-type': type }),
          },
          body,
        }));
    }),
  );
  return fc.oneof(...operations);
}

const CARD = 'https://pay.example.com/card/card_01QzXo0KcV5sVQ2pWm8Tn3';

/**
 * Generates what a terminal's reader may read: the test's own passes, cards and codes, invented
 * ones, and those of other systems.
 */
function tappedText(known: KnownIds): fc.Arbitrary<string> {
  const hex = (length: number) =>
    fc.string({
      unit: fc.constantFrom(...'0123456789ABCDEFabcdef'),
      minLength: length,
      maxLength: length,
    });
  const urls = fc.constantFrom(
    ...(known.card_ ?? []).map((id) => CARD.replace(/card_.*/, id)),
    CARD,
  );
  return fc.oneof(
    fc.constant('').map(() => newSecret('pass')),
    fc.constant('').map(() => newSecret('passCode')),
    fc.constantFrom(...(known.nfc_ ?? ['nfc_unknown'])),
    fc.tuple(urls, hex(32), hex(16)).map(([url, p, c]) => `${url}?p=${p}&c=${c}`),
    fc.tuple(urls, hex(31), hex(16)).map(([url, p, c]) => `${url}?p=${p}&c=${c}&c=${c}`),
    fc.constantFrom(CARD, 'card_1', 'nfc_', 'http://', 'javascript:alert(1)', '\u202eqr', 'é'),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 500 }),
  );
}
