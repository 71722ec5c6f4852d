import { API_VERSIONS } from '#core/api-versions.ts';
import { assert } from '#core/assert.ts';
import { ERROR_CODES, type ErrorCode } from '#core/error-codes.ts';
import { ID_PREFIXES, type IdKind } from '#core/ids.ts';
import { createErrorResponses, ERROR_SCHEMA, errorExamples, header } from '#http/openapi-errors.ts';
import { exampleFrom } from '#http/openapi-examples.ts';
import { type Components, createComponents, type Doc } from '#http/openapi-schemas.ts';
import type { ResponseDeclaration } from '#http/route.ts';
import { type DeclaredRoute, errorsByStatus } from '#http/route-errors.ts';

/** An event that the service sends to merchants' endpoints. */
export interface DeclaredWebhook {
  readonly type: string;
  readonly summary: string;
  readonly schema: unknown;
  readonly example: unknown;
}

/** The access rules of a surface, in OpenAPI terms. */
export interface DocumentedAccess {
  readonly name: string;
  /** The security scheme. */
  readonly scheme: Doc;
  /** True for operations that anyone may call. */
  isOpen(route: DeclaredRoute): boolean;
  /** Describes in a sentence what this route requires of its callers; `null` if nothing. */
  needs(route: DeclaredRoute): string | null;
  /** Codes of refusals that depend only on the caller, so any request may get them. */
  readonly errors: readonly ErrorCode[];
}

export interface DocumentOf {
  /** The product's name, version and introduction. */
  readonly info: Doc;
  /** The beginning of the documented paths: `/v1` for routes that are served below `/api/v1`. */
  readonly prefix: string;
  readonly server: { readonly url: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly routes: readonly DeclaredRoute[];
  readonly webhooks: readonly DeclaredWebhook[];
  readonly access: DocumentedAccess;
}

const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Request-Id': 'RequestId',
  'Service-Version': 'ServiceVersion',
  'RateLimit-Limit': 'RateLimitLimit',
  'RateLimit-Remaining': 'RateLimitRemaining',
  'RateLimit-Reset': 'RateLimitReset',
};

function headerRefs(): Doc {
  return Object.fromEntries(
    Object.entries(COMMON_HEADERS).map(([name, component]) => [name, header(component)]),
  );
}

function headerComponents(): Doc {
  const number = { type: 'integer', minimum: 0 };
  return {
    RequestId: {
      required: true,
      description: 'The id of this request.',
      schema: { type: 'string' },
    },
    ServiceVersion: {
      required: true,
      description: 'The version that was used.',
      schema: { type: 'string', enum: [...API_VERSIONS.all] },
    },
    RateLimitLimit: {
      required: true,
      description: 'The quota of the window.',
      schema: number,
    },
    RateLimitRemaining: {
      required: true,
      description: 'The remaining quota.',
      schema: number,
    },
    RateLimitReset: {
      required: true,
      description: 'Seconds until the whole quota is available again.',
      schema: number,
    },
    RetryAfter: {
      required: true,
      description: 'Seconds to wait before the next request.',
      schema: { type: 'integer', minimum: 1 },
    },
    IdempotentReplayed: {
      description: 'Present if this is the stored response of the first request with the key.',
      schema: { type: 'string', const: 'true' },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: the same key with the same request returns the first response. ' +
    'A UUID is a good choice; kept for 48 hours per account and mode.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  example: '7d8f2c54-6b0a-4f6e-9f43-2a1c5f0e8b11',
};

function parameterComponents(): Doc {
  return {
    ServiceVersion: {
      name: 'Service-Version',
      in: 'header',
      required: false,
      description: "The version of shapes and behavior; without it the key's own.",
      schema: { type: 'string', enum: [...API_VERSIONS.all] },
    },
    RequiredIdempotencyKey: { ...IDEMPOTENCY_KEY, required: true },
    IdempotencyKey: { ...IDEMPOTENCY_KEY, required: false },
    LastEventId: {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'The id of the last event that you have seen: the stream continues after it.',
      schema: { type: 'string' },
      example: 'evt_01QzXo0KcV5sVQ2pWm8Tn3',
    },
  };
}

const MODE = { type: 'string', enum: ['test', 'live'] };

function pathSchema(prefix: string | null): Doc {
  if (prefix === null) return { type: 'string', minLength: 1 };
  return { type: 'string', pattern: `^${prefix}` };
}

function pathParameters(route: DeclaredRoute): Doc[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const kind = route.params?.[name];
    assert(kind !== undefined, `${route.operationId} does not declare its parameter ${name}`);
    const prefix = kind === 'text' ? null : ID_PREFIXES[kind as IdKind];
    const schema = name === 'mode' ? MODE : pathSchema(prefix);
    const description = `The ${kind === 'text' ? name : `id of the ${words(kind)}`}.`;
    return { name, in: 'path', required: true, description, schema };
  });
}

/** Turns `payment_intent` or `paymentIntent` into "payment intent". */
function words(kind: string): string {
  return kind.replaceAll(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Doc>>;
  readonly required?: readonly string[];
}

function queryParameters(route: DeclaredRoute, components: Components): Doc[] {
  const { properties = {}, required = [] } = (route.query ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: components.use(schema),
  }));
}

function headerParameters(route: DeclaredRoute): Doc[] {
  const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });
  const version = parameter('ServiceVersion');
  if (route.resumes) return [parameter('LastEventId'), version];
  if (route.idempotency === 'ignored') return [version];
  const name = route.idempotency === 'required' ? 'RequiredIdempotencyKey' : 'IdempotencyKey';
  return [parameter(name), version];
}

function successResponse(
  route: DeclaredRoute,
  response: ResponseDeclaration,
  components: Components,
): Doc {
  const replayed = { 'Idempotent-Replayed': header('IdempotentReplayed') };
  const headers = { ...headerRefs(), ...(route.idempotency === 'ignored' ? {} : replayed) };
  const { description, schema, example, contentTypes = [] } = response;
  if (schema === null && contentTypes.length === 0) return { description, headers };
  if (schema === null) {
    const bytes = { schema: { type: 'string' } };
    // Only the first type gets the example; the other types are the same data in other formats.
    const shown = (index: number) => (index === 0 && example !== undefined ? { example } : {});
    return {
      description,
      headers,
      content: Object.fromEntries(contentTypes.map((t, i) => [t, { ...bytes, ...shown(i) }])),
    };
  }
  const content = {
    schema: components.use(schema),
    example: example ?? exampleFrom(schema),
  };
  return { description, headers, content: { 'application/json': content } };
}

function requestBody(route: DeclaredRoute, components: Components): Doc | null {
  if (route.upload !== undefined) {
    const types = route.upload.contentTypes.map((type) => [type, {}]);
    return { required: true, content: Object.fromEntries(types) };
  }
  if (route.body === undefined) return null;
  const { required = [] } = route.body as ObjectSchema;
  const schema = components.use({ ...route.body, additionalProperties: false });
  const example = route.bodyExample ?? exampleFrom(route.body);
  const content = { 'application/json': { schema, example } };
  return { required: required.length > 0, content };
}

function describe(route: DeclaredRoute, access: DocumentedAccess): string {
  return [route.description, access.needs(route)].filter((text) => text != null).join('\n\n');
}

function security(route: DeclaredRoute, { name, isOpen }: DocumentedAccess): Doc[] {
  if (isOpen(route)) return [];
  return [{ [name]: route.scope === null ? [] : [route.scope] }];
}

interface Parts {
  readonly components: Components;
  readonly errors: ReturnType<typeof createErrorResponses>;
  readonly access: DocumentedAccess;
}

function operation(route: DeclaredRoute, { components, errors, access }: Parts): Doc {
  const body = requestBody(route, components);
  const successes = Object.entries(route.responses).map(([status, response]) => [
    status,
    successResponse(route, response, components),
  ]);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: describe(route, access) || route.summary,
    security: security(route, access),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route, components),
      ...headerParameters(route),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(successes),
      ...errors.of(errorsByStatus(route, access.errors)),
    },
  };
}

function webhook(declared: DeclaredWebhook, components: Components): Doc {
  const { type, summary, schema, example } = declared;
  const content = { 'application/json': { schema: components.use(schema), example } };
  return {
    post: {
      operationId: `receive ${type}`.replaceAll(/[^a-z]+(\w)/g, (_, c: string) => c.toUpperCase()),
      tags: ['Webhooks'],
      summary,
      description:
        'Verify `Service-Signature` over the raw body, deduplicate on the event id, answer 2xx ' +
        'within 10 seconds.',
      security: [],
      requestBody: { required: true, content },
      responses: {
        '2XX': { description: 'Received. The body does not matter.' },
        '4XX': { description: 'Refused: the delivery is tried again later.' },
      },
    },
  };
}

function usedCodes({ routes, access }: DocumentOf): ErrorCode[] {
  const used = new Set(
    routes.flatMap((route) => [...errorsByStatus(route, access.errors).values()].flat()),
  );
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => used.has(code));
}

function used(kind: string, components: Doc, shown: string): Doc {
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => shown.includes(`#/components/${kind}/${name}"`)),
  );
}

/**
 * Builds the OpenAPI 3.1 document of the declared routes, from the same schemas that validate
 * requests and responses.
 */
export function openApiDocument(described: DocumentOf): Doc {
  const components = createComponents();
  const errors = createErrorResponses(headerRefs());
  const paths: Record<string, Doc> = {};
  for (const route of described.routes) {
    const path = described.prefix + route.path;
    const method = route.method.toLowerCase();
    const parts = { components, errors, access: described.access };
    paths[path] = { ...paths[path], [method]: operation(route, parts) };
  }
  const shown = JSON.stringify([paths, errors.shared]);
  const webhooks = described.webhooks.map((each) => [each.type, webhook(each, components)]);
  return {
    openapi: '3.1.1',
    info: described.info,
    servers: [described.server],
    tags: described.tags,
    security: [{ [described.access.name]: [] }],
    paths,
    ...(webhooks.length === 0 ? {} : { webhooks: Object.fromEntries(webhooks) }),
    components: {
      securitySchemes: { [described.access.name]: described.access.scheme },
      headers: used('headers', headerComponents(), shown),
      parameters: used('parameters', parameterComponents(), shown),
      responses: errors.shared,
      examples: errorExamples(usedCodes(described)),
      schemas: { Error: ERROR_SCHEMA, ...components.schemas },
    },
  };
}
