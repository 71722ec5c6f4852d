import { type Endpoint, exampleOf, type Parameter } from '#docs/api-document.ts';

const JSON_TYPE = 'application/json';

function bodyOf(endpoint: Endpoint): unknown {
  return exampleOf(endpoint.requestBody?.content[JSON_TYPE]);
}

function isKeyed(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key');
}

/** One line of quoted JSON in a shell. */
function quoted(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;
}

/** The request with curl. `TAPLINE_BASE_URL` ends in `/api`. */
export function curlExample(endpoint: Endpoint, parameters: readonly Parameter[]): string {
  const { method, path } = endpoint;
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const lines = [`curl "$TAPLINE_BASE_URL${url}"`, '-H "Authorization: Bearer $TAPLINE_API_KEY"'];
  const body = bodyOf(endpoint);
  if (method !== 'GET' && (method !== 'POST' || body === undefined)) {
    lines.splice(1, 0, `-X ${method}`);
  }
  if (isKeyed(parameters)) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${quoted(body)}`);
  return lines.join(' \\\n  ');
}

/** JSON as TypeScript writes it: names without quotes where they need none. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** `ID` of a path, as a variable. */
function argumentsOf({ path }: Endpoint): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The call with the package `tapline`; `method` is `paymentIntents.create`. */
function packageExample(
  endpoint: Endpoint,
  parameters: readonly Parameter[],
  method: string,
): string {
  const body = bodyOf(endpoint);
  const sent = [...argumentsOf(endpoint), ...(body === undefined ? [] : [literal(body)])];
  if (method.endsWith('.list') || method.endsWith('.deliveries')) {
    // Not every list has pages.
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

/** `GET /v1/payments` → `payments.list`, read from the sources of the package. */
export type PackageMethods = ReadonlyMap<string, string>;

const CLASS = /export class (\w+) extends Resource \{([\s\S]*?)\n\}/g;
const CALL = /^ +(\w+)\([^)]*\) \{\s+return this\.(?:call|pages|keyed)\('([A-Z]+ [^']+)'/gm;

/** @param resources the text of `sdk/src/resources.ts`. */
export function packageMethods(resources: string): PackageMethods {
  const found = new Map<string, string>();
  for (const [, name = '', body = ''] of resources.matchAll(CLASS)) {
    const property = name[0]?.toLowerCase() + name.slice(1);
    for (const [, method, call = ''] of body.matchAll(CALL)) {
      found.set(call, `${property}.${method}`);
    }
  }
  return found;
}

/** The request in TypeScript: with the package where it has a method for it. */
export function typescriptExample(
  endpoint: Endpoint,
  parameters: readonly Parameter[],
  methods: PackageMethods,
): string {
  const method = methods.get(`${endpoint.method} ${endpoint.path}`);
  if (method === undefined) return fetchExample(endpoint, parameters);
  return packageExample(endpoint, parameters, method);
}
