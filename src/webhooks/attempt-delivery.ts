import { decrypt } from '#core/bearer-secrets.ts';
import type { Clock } from '#core/clock.ts';
import { failpoint } from '#core/failpoints.ts';
import { renderEventForVersion } from '#events/event-versions.ts';
import { describeError, type Log } from '#observability/log.ts';
import { webhookAttempts, webhookDelay, webhookDuration } from '#observability/process-metrics.ts';
import { redactOwn } from '#observability/redact.ts';
import { isTracing, type Span, startSpan } from '#observability/tracing.ts';
import { type Network, openTransport, type Transport } from '#webhooks/connect-to-receivers.ts';
import type { DueRow } from '#webhooks/delivery-queue-queries.ts';
import type { EndpointRow } from '#webhooks/endpoint-rules.ts';
import type { Reply } from '#webhooks/http-exchange.ts';
import { parseRetryAfter } from '#webhooks/retry-schedule.ts';
import { type SigningKey, sign, signingKey } from '#webhooks/sign-delivery.ts';

/**
 * The properties of an endpoint that a delivery needs, such as its URL, API version and signing
 * keys.
 */
export interface Target {
  /** The time of the endpoint's last change. */
  readonly updated: Date;
  readonly apiVersion: string;
  readonly transport: Transport;
  readonly key: SigningKey;
  /** The secret before the last rotation, and the time until which it also signs. */
  readonly previous: { readonly key: SigningKey; readonly until: Date } | null;
}

type TargetRow = Pick<
  EndpointRow,
  'url' | 'api_version' | 'secret' | 'previous_secret' | 'previous_secret_until' | 'updated'
>;

/** Decrypts an endpoint's keys. `endpointId` is their encryption context. */
export function openTarget(
  endpointId: string,
  row: TargetRow,
  by: { readonly secretKey: Buffer; readonly network: Network },
): Target {
  const open = (sealed: Buffer) => signingKey(decrypt(by.secretKey, sealed, endpointId));
  const { previous_secret: previous, previous_secret_until: until } = row;
  return {
    updated: row.updated,
    apiVersion: row.api_version,
    transport: openTransport(new URL(row.url), by.network),
    key: open(row.secret),
    previous: previous === null || until === null ? null : { key: open(previous), until },
  };
}

export interface Message {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** The stored event's JSON. */
  readonly body: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The span of this attempt, sent to receivers that trace; `null` if tracing is off. */
  readonly traceparent: string | null;
}

export interface AttemptResult {
  readonly succeeded: boolean;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** The reason of a failure; `null` for a success. */
  readonly error: string | null;
  readonly durationMs: number;
  readonly finished: Date;
  readonly retryAfterMs: number | null;
}

function headersOf(target: Target, message: Message, body: Buffer, now: Date): string[] {
  const { previous } = target;
  const keys =
    previous !== null && previous.until > now ? [target.key, previous.key] : [target.key];
  const seconds = Math.floor(now.getTime() / 1000);
  const signatures = sign({ eventId: message.eventId, seconds, body }, keys);
  return [
    'content-type',
    'application/json; charset=utf-8',
    'user-agent',
    'Tapline-Webhooks/1',
    'Service-Signature',
    signatures.service,
    'Service-Event-Id',
    message.eventId,
    'Service-Event-Type',
    message.eventType,
    'Service-Delivery-Id',
    message.deliveryId,
    'Service-Delivery-Attempt',
    String(message.attempt),
    'webhook-id',
    message.eventId,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    signatures.standard,
    ...(message.traceparent === null ? [] : ['traceparent', message.traceparent]),
  ];
}

function toResult(reply: Reply, now: Date): AttemptResult {
  const { durationMs } = reply;
  const base = { durationMs, finished: now, retryAfterMs: null };
  if (!reply.answered) {
    const { error } = reply;
    return { ...base, succeeded: false, responseStatus: null, responseBody: null, error };
  }
  const { status, body } = reply;
  // Masks our own secrets, because a receiver may echo the request's headers or print its settings.
  const responseBody = body === null ? null : redactOwn(body);
  const answered = { ...base, responseStatus: status, responseBody };
  if (status < 300) return { ...answered, succeeded: true, error: null };
  return {
    ...answered,
    succeeded: false,
    error: status < 400 ? 'redirect_refused' : 'status_not_2xx',
    retryAfterMs: parseRetryAfter(reply.retryAfter, now),
  };
}

/** Sends one event once, signed now, within 10 s. Never throws. */
export async function attemptDelivery(
  target: Target,
  message: Message,
  clock: { now(): Date },
): Promise<AttemptResult> {
  const body = Buffer.from(renderEventForVersion(message.body, target.apiVersion));
  const headers = headersOf(target, message, body, clock.now());
  return toResult(await target.transport.post(headers, body), clock.now());
}

/** Sends a delivery once. Never throws. */
export async function deliver(
  {
    clock,
    log,
    traceOf,
  }: {
    readonly clock: Clock;
    readonly log: Log;
    /** Returns an event's trace; called only while tracing is on. */
    readonly traceOf?: (body: string) => Promise<string | null>;
  },
  target: Target,
  row: DueRow,
): Promise<AttemptResult> {
  if (row.body === null) return notSent('event_expired', clock.now());
  failpoint('webhooks.taken');
  const span = isTracing() ? await openSpan(traceOf, row, row.body) : null;
  const message = {
    deliveryId: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body,
    attempt: row.attempt + 1,
    traceparent: span?.traceparent ?? null,
  };
  try {
    const result = await attemptDelivery(target, message, clock);
    if (result.error !== null) span?.fail(result.error);
    return result;
  } catch (error) {
    log.error('a webhook could not be sent', { delivery: row.id, error: describeError(error) });
    return notSent('not_sent', clock.now());
  } finally {
    span?.end();
  }
}

/** Opens the delivery's span; `null` if the event belongs to no trace. */
async function openSpan(
  traceOf: ((body: string) => Promise<string | null>) | undefined,
  row: DueRow,
  body: string,
): Promise<Span | null> {
  const parent = await traceOf?.(body).catch(() => null);
  if (parent == null) return null;
  const attributes = {
    'tapline.event': row.event_id,
    'tapline.delivery': row.id,
    'tapline.attempt': row.attempt + 1,
  };
  return startSpan(`webhook ${row.event_type}`, { parent, kind: 'client', attributes });
}

function notSent(error: string, now: Date): AttemptResult {
  return {
    succeeded: false,
    responseStatus: null,
    responseBody: null,
    error,
    durationMs: 0,
    finished: now,
    retryAfterMs: null,
  };
}

export function countAttempt(row: DueRow, result: AttemptResult): void {
  webhookAttempts.inc({ result: result.succeeded ? 'succeeded' : 'failed' });
  webhookDuration.observe(result.durationMs / 1000);
  if (row.attempt > 0) return;
  const sentAt = result.finished.getTime() - result.durationMs;
  webhookDelay.observe(Math.max(0, sentAt - row.event_created.getTime()) / 1000);
}
