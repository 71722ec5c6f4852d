import { ERROR_CODES, type ErrorCode, statusOf } from '#core/error-codes.ts';
import type { AnyRoute } from '#http/route.ts';

/** Errors that a request may get on any route, from any caller. */
const OF_ANY_REQUEST: readonly ErrorCode[] = [
  'body_invalid',
  'parameter_invalid',
  'parameter_unknown',
  'api_version_invalid',
  'rate_limit_exceeded',
  'internal_error',
  'request_timeout',
  'service_unavailable',
];

const OF_BODIES: readonly ErrorCode[] = ['body_too_large', 'content_type_unsupported'];

const OF_IDEMPOTENCY: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_request_in_progress',
];

function hasRequired(schema: unknown): boolean {
  const { required } = (schema ?? {}) as { required?: readonly string[] };
  return required !== undefined && required.length > 0;
}

/**
 * A route's declaration as the document shows it: without its handler and the type of its callers.
 */
export type DeclaredRoute = Omit<AnyRoute, 'handle'>;

/**
 * Returns every error code that an operation may return, by status, in the order of the table of
 * codes. `ofCallers` are the codes that depend on who may call the surface.
 */
export function errorsByStatus(
  route: DeclaredRoute,
  ofCallers: readonly ErrorCode[],
): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>([...OF_ANY_REQUEST, ...ofCallers, ...route.errors]);
  if (route.method !== 'GET') for (const code of OF_BODIES) codes.add(code);
  if (route.scope !== null) codes.add('scope_missing');
  // A required field of a nested object may be missing, even if the body itself requires no field.
  if (route.body !== undefined || hasRequired(route.query)) codes.add('parameter_missing');
  if (route.idempotency !== 'ignored') for (const code of OF_IDEMPOTENCY) codes.add(code);
  if (route.idempotency === 'required') codes.add('idempotency_key_required');
  const ordered = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => codes.has(code));
  return Map.groupBy(ordered, statusOf);
}
