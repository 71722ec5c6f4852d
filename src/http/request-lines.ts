import type { FastifyRequest } from 'fastify';
import type { Call } from '#http/request-state.ts';
import { type LogFields, writeEntry } from '#observability/log.ts';

/** The requests to log. `failed` means responses with a status of 500 or more. */
export const LOGGED_REQUESTS = ['none', 'failed', 'all'] as const;

export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

export interface RequestLines {
  note(request: FastifyRequest, call: Call, status: number): void;
  /**
   * Switches to logging all requests (to none, if all were logged from the start). The next call
   * restores the original setting.
   */
  toggle(): void;
}

const FAILED_FROM = 500;

/**
 * Returns the log line of a request. It names the route but not the path, because some paths are
 * links that grant access to whoever has them. It omits the address and the body, which only the
 * merchant may see, in the dashboard's request log.
 */
function lineOf(request: FastifyRequest, call: Call, status: number): LogFields {
  const { caller, route } = call;
  return {
    request: call.requestId,
    method: request.method,
    route: route?.path ?? null,
    operation: route?.operationId ?? null,
    status,
    code: call.code,
    ms: Math.round((performance.now() - call.startedMs) * 10) / 10,
    account: caller?.tenant.accountId ?? null,
    livemode: caller?.tenant.livemode ?? null,
    object: call.objectId,
  };
}

/** Logs requests to stderr, as far as the current setting includes them. */
export function createRequestLines(first: LoggedRequests): RequestLines {
  let shown = first;
  return {
    note: (request, call, status) => {
      if (shown === 'none' || (shown === 'failed' && status < FAILED_FROM)) return;
      const time = new Date().toISOString();
      writeEntry({ time, level: 'info', message: 'request', ...lineOf(request, call, status) });
    },
    toggle: () => {
      shown = shown === 'all' ? (first === 'all' ? 'none' : first) : 'all';
    },
  };
}
