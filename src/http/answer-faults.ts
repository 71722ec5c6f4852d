import type { FastifyError } from 'fastify';
import { type Refusal, refuse } from '#core/answer.ts';
import { Unavailable } from '#core/unavailable.ts';
import { CommitUnknown, codeOf, DatabaseUnavailable, isConflict } from '#db/database.ts';
import type { Log } from '#observability/log.ts';

export function serviceUnavailable(): Refusal {
  return refuse(
    'service_unavailable',
    'The service is briefly unavailable. Nothing was done. Retry.',
  );
}

/** SQLSTATE `disk_full`. */
const DISK_FULL = '53100';

function diskFull(): Refusal {
  return refuse(
    'service_unavailable',
    'The disk of the database is full. Nothing was done. Retry once there is room.',
  );
}

export function requestTimeout(): Refusal {
  return refuse(
    'request_timeout',
    'The request timed out but may still complete. Send it again with the same ' +
      'Idempotency-Key, or read the object.',
  );
}

/**
 * Returns the refusal of a body that contradicts its headers or the route's limits; `null` if the
 * fault is the service's.
 */
function refuseBody(error: FastifyError): Refusal | null {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refuse(
      'body_too_large',
      'The body is larger than this route accepts: 64 KiB, except for uploads.',
    );
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return refuse('content_type_unsupported', 'Send the body as Content-Type: application/json.');
  }
  if (error.code?.startsWith('FST_ERR_CTP') || error.statusCode === 400) {
    return refuse('body_invalid', 'The length or encoding of the body contradicts its headers.');
  }
  return null;
}

/** Returns the response to an error. The details go only to the log. */
export function refusalOfFault(error: FastifyError, log: Log, requestId: string): Refusal {
  const refusedBody = refuseBody(error);
  if (refusedBody !== null) return refusedBody;
  const fields = { request: requestId, error };
  if (error instanceof DatabaseUnavailable) {
    log.warn('database unavailable', fields);
    return codeOf(error.cause) === DISK_FULL ? diskFull() : serviceUnavailable();
  }
  if (error instanceof Unavailable) {
    log.warn('a dependency of a request is unavailable', fields);
    return serviceUnavailable();
  }
  if (isConflict(error)) {
    log.warn('a transaction conflicted with others at every attempt', fields);
    return serviceUnavailable();
  }
  if (error instanceof CommitUnknown) {
    log.error('the result of a commit is unknown', fields);
    return refuse(
      'request_timeout',
      'The response was lost. Send the request again with the same Idempotency-Key.',
    );
  }
  log.error('request failed', fields);
  return refuse(
    'internal_error',
    'An internal error occurred. Send the request again with the same Idempotency-Key.',
  );
}
