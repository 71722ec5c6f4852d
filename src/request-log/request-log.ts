import type { FastifyRequest } from 'fastify';
import { openRowAppender } from '#db/append-by-copy.ts';
import type { Database } from '#db/database.ts';
import { type Call, tookMs } from '#http/request-state.ts';
import type { Log } from '#observability/log.ts';
import { redactOwn } from '#observability/redact.ts';
import { type RequestRow, requestLog } from '#request-log/request-log-queries.ts';

export interface RequestLog {
  /** Returns immediately, and never throws. */
  note(request: FastifyRequest, call: Call, status: number): void;
  /** Number of requests that were not written because the database could not keep up. */
  readonly dropped: number;
  /** Writes the queued entries. */
  close(): Promise<void>;
}

/**
 * Interval of writes. Only people read the log, so they can wait, and the delay makes batches
 * worthwhile.
 */
const FLUSH_EVERY_MS = 250;
/** Maximum rows per COPY, which then takes a few milliseconds. */
const MAX_BATCH = 500;
/**
 * About 8,000 requests. If the database is unreachable for longer, entries are lost, but the
 * process keeps running.
 */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;
const MAX_PATH = 200;
const MAX_USER_AGENT = 200;
const MAX_KEY = 255;

/** Masks secrets, because a client may put one into a path or header by mistake. */
function redact(text: string, maxLength: number): string {
  return redactOwn(text.slice(0, maxLength));
}

function headerText(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

function toRow(request: FastifyRequest, call: Call, status: number): RequestRow {
  const { caller } = call;
  const userAgent = headerText(request, 'user-agent');
  const key = headerText(request, 'idempotency-key');
  return {
    id: call.requestId,
    created: call.now,
    account_id: caller?.tenant.accountId ?? null,
    livemode: caller?.tenant.livemode ?? null,
    caller_id: caller?.rateKey ?? null,
    operation: call.route?.operationId ?? null,
    method: request.method,
    path: redact(request.url.split('?')[0] ?? '', MAX_PATH),
    status,
    code: call.code,
    object_id: call.objectId,
    idempotency_key: key === null ? null : redact(key, MAX_KEY),
    api_version: call.version,
    duration_ms: Math.round(tookMs(call) * 100) / 100,
    address: request.ip,
    user_agent: userAgent === null ? null : redact(userAgent, MAX_USER_AGENT),
  };
}

/** Writes answered requests to the request log, after their responses and many per statement. */
export function createRequestLog(deps: { readonly db: Database; readonly log: Log }): RequestLog {
  const appender = openRowAppender(deps.db, requestLog, MAX_WAITING_BYTES);
  let dropped = 0;
  let writing: Promise<void> | null = null;

  const writeWaiting = async () => {
    const count = appender.waiting;
    try {
      const refused = await appender.flush();
      if (refused > 0)
        deps.log.error('the database refused request-log entries', { count: refused });
      dropped += refused;
    } catch (error) {
      dropped += count;
      deps.log.warn('requests could not be logged', { count, error });
    }
    writing = null;
  };
  const flush = () => {
    if (appender.waiting > 0) writing ??= writeWaiting();
  };
  const timer = setInterval(flush, FLUSH_EVERY_MS);
  timer.unref();
  return {
    note: (request, call, status) => {
      if (!appender.add(toRow(request, call, status))) dropped++;
      if (appender.waiting >= MAX_BATCH) flush();
    },
    get dropped() {
      return dropped;
    },
    close: async () => {
      clearInterval(timer);
      await writing;
      await writeWaiting();
      await appender.close();
    },
  };
}
