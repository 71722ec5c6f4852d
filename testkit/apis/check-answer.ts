import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Doc = { [key: string]: unknown };

/** An HTTP request and its response. */
export interface Exchange {
  readonly method: string;
  /** Path and query, relative to the server's root, such as `/api/v1/payments?limit=1`. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const DOCUMENT = 'document';
/** Prefix of the error code, by status, for requests that match no operation. */
const WITHOUT_OPERATION: Readonly<Record<number, string>> = {
  401: 'api_key_',
  403: '',
  404: 'route_missing',
  405: 'method_not_allowed',
  400: '',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};

/** Makes a schema strict: a field that it does not describe is an error. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, closed(member)]),
  );
  const isObjectSchema = copy.type === 'object' && typeof copy.properties === 'object';
  return isObjectSchema ? { additionalProperties: false, ...copy } : copy;
}

function pointer(...parts: readonly (string | number)[]): string {
  return parts
    .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
}

interface Operation {
  readonly template: string;
  readonly pattern: RegExp;
  readonly method: string;
  readonly responses: Readonly<Record<string, Doc>>;
}

function listOperations(document: Doc, root: string): Operation[] {
  const paths = document.paths as Record<
    string,
    Record<string, { responses: Record<string, Doc> }>
  >;
  return Object.entries(paths).flatMap(([template, item]) => {
    const escaped = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
    const pattern = new RegExp(`^${root}${escaped.replaceAll(/\{\w+\}/g, '[^/]*')}$`);
    return Object.entries(item).map(([method, { responses }]) => ({
      template,
      pattern,
      method: method.toUpperCase(),
      responses,
    }));
  });
}

/** False if the path has invalid escapes. Such a request reaches no operation. */
function isReadable(path: string): boolean {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the operation for a path. If several templates match, the one with the fewest parameters
 * wins.
 */
function findOperation(operations: readonly Operation[], exchange: Exchange): Operation | null {
  const path = exchange.path.split('?')[0] ?? '';
  if (!isReadable(path)) return null;
  const fitting = operations.filter(
    (operation) => operation.method === exchange.method && operation.pattern.test(path),
  );
  const parameters = ({ template }: Operation) => template.split('{').length;
  return fitting.toSorted((a, b) => parameters(a) - parameters(b))[0] ?? null;
}

function checkCommonHeaders({ headers, status }: Exchange, where: string): void {
  assert.match(headers['request-id'] ?? '', /^req_[0-9A-Za-z]{22}$/, `${where}: Request-Id`);
  assert.match(headers['service-version'] ?? '', /^\d{4}-\d\d-\d\d$/, `${where}: Service-Version`);
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    assert.match(headers[name] ?? '', /^\d+$/, `${where}: ${name}`);
  }
  if (status === 429) assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/, where);
}

/**
 * Creates a function that compares a response with the OpenAPI document: its status, headers, error
 * code and every field. The function throws an AssertionError that names the difference.
 */
export function createAnswerCheck(document: Doc, root = '/api'): (exchange: Exchange) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema(closed(document) as Doc, DOCUMENT);
  const operations = listOperations(document, root);
  const validators = new Map<string, ValidateFunction>();

  const validatorOf = (operation: Operation, status: number): ValidateFunction | null => {
    const response = operation.responses[status];
    const reference = response?.$ref as string | undefined;
    const method = operation.method.toLowerCase();
    const own = `#/${pointer('paths', operation.template, method, 'responses', status)}`;
    const base = reference ?? own;
    if (responseOf(operation, status)?.content === undefined) return null;
    const path = `${DOCUMENT}${base}/${pointer('content', 'application/json', 'schema')}`;
    const known = validators.get(path);
    if (known !== undefined) return known;
    const validator = ajv.compile({ $ref: path });
    validators.set(path, validator);
    return validator;
  };

  const responseOf = ({ responses }: Operation, status: number): Doc | undefined => {
    const reference = responses[status]?.$ref as string | undefined;
    return reference === undefined ? responses[status] : resolve(document, reference);
  };

  return (exchange) => {
    const { method, path, status, text } = exchange;
    const where = `${method} ${path} → ${status} ${text.slice(0, 300)}`;
    checkCommonHeaders(exchange, where);
    const operation = findOperation(operations, exchange);
    if (operation === null) {
      const code = WITHOUT_OPERATION[exchange.status];
      assert.ok(code !== undefined, `no operation may answer this: ${where}`);
      assert.ok(JSON.parse(exchange.text).error.code.startsWith(code), where);
      return;
    }
    assert.ok(operation.responses[exchange.status] !== undefined, `undocumented status: ${where}`);
    const validator = validatorOf(operation, exchange.status);
    if (validator === null) return assert.equal(exchange.text, '', where);
    const body = JSON.parse(exchange.text) as { readonly error: { readonly code: string } };
    const ok = validator(body);
    assert.ok(ok, `not as documented: ${ajv.errorsText(validator.errors)}: ${where}`);
    if (status >= 400) checkCode(responseOf(operation, status), body.error.code, where);
  };
}

/** Requires that the document has an example with this error code for the response. */
function checkCode(response: Doc | undefined, code: string, where: string): void {
  const content = response?.content as Record<string, { readonly examples: Doc }> | undefined;
  const codes = Object.keys(content?.['application/json']?.examples ?? {});
  assert.ok(codes.includes(code), `undocumented code ${code}: ${where}`);
}

function resolve(document: Doc, reference: string): Doc | undefined {
  let value: unknown = document;
  for (const part of reference.split('/').slice(1)) value = (value as Doc)[part];
  return value as Doc | undefined;
}
