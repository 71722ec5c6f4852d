import { type Endpoint, exampleOf, type Parameter } from '#docs/api-document.ts';

const JSON_TYPE = 'application/json';

function bodyOf(endpoint: Endpoint): unknown {
  return exampleOf(endpoint.requestBody?.content[JSON_TYPE]);
}

function isKeyed(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key');
}

/** Returns the value as shell-quoted JSON on one line. */
function quoted(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;
}

/** True for an event stream, which programs read one event at a time. */
function isStream({ path }: Endpoint): boolean {
  return path === '/v1/events/stream';
}

/** Writes the request with curl. `TAPLINE_BASE_URL` ends in `/api`. */
export function curlExample(endpoint: Endpoint, parameters: readonly Parameter[]): string {
  const { method, path } = endpoint;
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  // Without -N, curl buffers the lines of a stream.
  const curl = isStream(endpoint) ? 'curl -N' : 'curl';
  const lines = [
    `${curl} "$TAPLINE_BASE_URL${url}"`,
    '-H "Authorization: Bearer $TAPLINE_API_KEY"',
  ];
  const body = bodyOf(endpoint);
  if (method !== 'GET' && (method !== 'POST' || body === undefined)) {
    lines.splice(1, 0, `-X ${method}`);
  }
  if (isKeyed(parameters)) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${quoted(body)}`);
  return lines.join(' \\\n  ');
}

/** Writes a JSON value as TypeScript: names are quoted only if necessary. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** Returns the names of the path's parameters, which become variables in the example. */
function argumentsOf({ path }: Endpoint): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Writes a call of the `tapline` package; `method` is, for example, `paymentIntents.create`. */
function packageExample(
  endpoint: Endpoint,
  parameters: readonly Parameter[],
  method: string,
): string {
  const body = bodyOf(endpoint);
  const sent = [...argumentsOf(endpoint), ...(body === undefined ? [] : [literal(body)])];
  if (method.endsWith('.list') || method.endsWith('.deliveries')) {
    // Not every list is paged.
    const hasPages = parameters.some(({ name }) => name === 'limit');
    const list = [...argumentsOf(endpoint), ...(hasPages ? ['{ limit: 100 }'] : [])].join(', ');
    return `for await (const one of tapline.${method}(${list})) {\n  console.log(one.id);\n}`;
  }
  return `const result = await tapline.${method}(${sent.join(', ')});`;
}

function fetchExample(endpoint: Endpoint, parameters: readonly Parameter[]): string {
  const { method, path } = endpoint;
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `\${${name}}`);
  const body = bodyOf(endpoint);
  const headers = [
    `    Authorization: \`Bearer \${process.env.TAPLINE_API_KEY}\`,`,
    ...(isKeyed(parameters) ? ["    'Idempotency-Key': crypto.randomUUID(),"] : []),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ];
  const sent = body === undefined ? '' : literal(body).replaceAll('\n', '\n  ');
  return [
    `const response = await fetch(\`\${process.env.TAPLINE_BASE_URL}${url}\`, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers,
    '  },',
    ...(sent === '' ? [] : [`  body: JSON.stringify(${sent}),`]),
    '});',
    'const result = await response.json();',
  ].join('\n');
}

/** Maps, for example, `GET /v1/payments` to `payments.list`, from the package's sources. */
export type PackageMethods = ReadonlyMap<string, string>;

const CLASS = /export class (\w+) extends Resource \{([\s\S]*?)\n\}/g;
const CALL = /^ +(\w+)\([^)]*\): [^{]+ \{\s+return this\.(?:call|pages|keyed)\('([A-Z]+ [^']+)'/gm;

/** @param resources the text of `sdk/src/resources.ts`. */
export function packageMethods(resources: string): PackageMethods {
  const examples = new Map<string, string>();
  for (const [, name = '', body = ''] of resources.matchAll(CLASS)) {
    const property = name[0]?.toLowerCase() + name.slice(1);
    for (const [, method, call = ''] of body.matchAll(CALL)) {
      examples.set(call, `${property}.${method}`);
    }
  }
  return examples;
}

/** Writes the request in TypeScript, with the package if it has a method for the request. */
export function typescriptExample(
  endpoint: Endpoint,
  parameters: readonly Parameter[],
  methods: PackageMethods,
): string {
  if (isStream(endpoint)) {
    return [
      "for await (const event of tapline.events.stream({ types: 'payment.*' })) {",
      '  console.log(event.id, event.type);',
      '}',
    ].join('\n');
  }
  const method = methods.get(`${endpoint.method} ${endpoint.path}`);
  if (method === undefined) return fetchExample(endpoint, parameters);
  return packageExample(endpoint, parameters, method);
}

function pythonLiteral(value: unknown, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((one) => pythonLiteral(one, inner))
    : Object.entries(value).map(([name, one]) => `"${name}": ${pythonLiteral(one, inner)}`);
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

const PYTHON_STREAM = `import json, os, urllib.request

request = urllib.request.Request(
    os.environ["TAPLINE_BASE_URL"] + "/v1/events/stream",
    headers={"Authorization": "Bearer " + os.environ["TAPLINE_API_KEY"]},
)
with urllib.request.urlopen(request) as stream:
    for line in stream:
        if line.startswith(b"data: "):
            event = json.loads(line[len(b"data: "):])
            print(event["id"], event["type"])`;

/** Resources for which the Python client has methods. Other operations are called by their path. */
const PYTHON_RESOURCES = ['payment_intents', 'payments', 'refunds', 'terminals', 'events'];
const PYTHON_ACTIONS = ['create', 'cancel', 'confirm'];

export function pythonExample(endpoint: Endpoint): string {
  if (isStream(endpoint)) return PYTHON_STREAM;
  const { method, path } = endpoint;
  const body = bodyOf(endpoint);
  const [resource = '', id, action = 'create'] = path.slice('/v1/'.length).split('/');
  const isKnown = PYTHON_RESOURCES.includes(resource);
  if (isKnown && method === 'GET') {
    return id === undefined
      ? `for one in tapline.${resource}.list():\n    print(one["id"])`
      : `result = tapline.${resource}.retrieve(id)`;
  }
  if (isKnown && method === 'POST' && PYTHON_ACTIONS.includes(action)) {
    const named = Object.entries(body ?? {}).map(
      ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},\n`,
    );
    const given = [...(id === undefined ? [] : ['    id,\n']), ...named].join('');
    return `result = tapline.${resource}.${action}(\n${given})`;
  }
  const f = path.includes('{') ? 'f' : '';
  const sent = body === undefined ? '' : `, ${pythonLiteral(body)}`;
  return `result = tapline.request("${method}", ${f}"${path.slice('/v1'.length)}"${sent})`;
}
