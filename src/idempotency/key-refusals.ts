import { type Refusal, refuse } from '#core/answer.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

export function keyReused(): Refusal {
  return refuse(
    'idempotency_key_reused',
    'This Idempotency-Key was already used with a different method, path or body. Nothing ' +
      'was done. Send the first request again unchanged, or use a new key for a new request.',
  );
}

export function requestInProgress(): Refusal {
  return refuse(
    'idempotency_request_in_progress',
    'The first request with this Idempotency-Key is still running. Nothing was done twice. ' +
      'Wait a moment and send it again with the same key.',
  );
}

/** Returns the refusal for a request while another request with its key is running. */
export function meetUnderWay(first: IdempotentRequest, request: IdempotentRequest): Refusal {
  return first.fingerprint.equals(request.fingerprint) ? requestInProgress() : keyReused();
}
