import type { FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { headerOf } from '#http/checks-before-body.ts';
import { parseJsonObject } from '#http/parse-json.ts';
import type { AnyRoute } from '#http/route.ts';
import { type Check, compileCheck, parseQuery } from '#http/validate-by-schema.ts';

export type Values = { [key: string]: Json };

export interface Compiled {
  readonly route: AnyRoute;
  readonly checkBody: Check | null;
  readonly checkQuery: Check | null;
  readonly queryProperties: Record<string, { type?: string }>;
}

export function compile(route: AnyRoute): Compiled {
  const query: TSchema | undefined = route.query;
  return {
    route,
    checkBody: route.body === undefined ? null : checkOf(route, route.body),
    checkQuery: query === undefined ? null : compileCheck(closed(query), 'query'),
    queryProperties: query === undefined ? {} : (query as TObject).properties,
  };
}

function checkOf(route: AnyRoute, body: TSchema): Check {
  const check = compileCheck(closed(body), 'body');
  if (route.namesElements !== true) return check;
  return (value) => {
    const refusal = check(value);
    if (refusal === null || refusal.param === null) return refusal;
    const param = refusal.param.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
    return { ...refusal, message: refusal.message.replace(refusal.param, () => param), param };
  };
}

/** Makes a request schema refuse unknown parameters. Response schemas stay open. */
function closed(schema: TSchema): TSchema {
  return { ...schema, additionalProperties: false };
}

function checkEncoding(request: FastifyRequest): Refusal | null {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(headerOf(request, 'content-type') ?? '')?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return null;
  return refuse('body_invalid', 'The body must be UTF-8.');
}

export function mediaType(request: FastifyRequest): string {
  return (headerOf(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function wrongType(expected: readonly string[]): Refusal {
  return refuse('content_type_unsupported', `Send the body as ${expected.join(' or ')}.`);
}

/** Checks the media type: a route accepts either JSON or the types that it declares. */
function checkType(request: FastifyRequest, route: AnyRoute): Refusal | null {
  const allowed = route.upload?.contentTypes ?? ['application/json'];
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0;
  if (isEmpty && route.upload === undefined) return null;
  return allowed.includes(mediaType(request)) ? null : wrongType(allowed);
}

/** The service never decompresses, because decompressed data could exceed every size limit. */
function checkContentEncoding(request: FastifyRequest): Refusal | null {
  const encoding = headerOf(request, 'content-encoding');
  if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return null;
  return refuse(
    'content_type_unsupported',
    'Send the body uncompressed, without Content-Encoding.',
  );
}

export function readBody(request: FastifyRequest, compiled: Compiled): Values | Refusal {
  const packed = checkContentEncoding(request);
  if (packed !== null) return packed;
  const mistyped = checkType(request, compiled.route);
  if (mistyped !== null) return mistyped;
  if (compiled.route.upload !== undefined) return {};
  const raw = request.body;
  if (!Buffer.isBuffer(raw) || raw.length === 0) return {};
  const wrongEncoding = checkEncoding(request);
  if (wrongEncoding !== null) return wrongEncoding;
  const body = parseJsonObject(raw, compiled.route.multiline);
  if (isRefusal(body) || compiled.checkBody !== null) return body;
  const name = Object.keys(body)[0];
  if (name === undefined) return body;
  return refuse(
    'parameter_unknown',
    `This request takes no body parameters; remove ${name}.`,
    name,
  );
}

export function readQuery(request: FastifyRequest, compiled: Compiled): Values | Refusal {
  const at = request.url.indexOf('?');
  const search = at < 0 ? '' : request.url.slice(at + 1);
  const query = parseQuery(search, compiled.queryProperties);
  if (isRefusal(query) || compiled.checkQuery !== null) return query;
  const name = Object.keys(query)[0];
  if (name === undefined) return query;
  return refuse('parameter_unknown', `${name} is not a parameter of this request.`, name);
}
