import { randomUUID } from 'node:crypto';
import { describeError, type Log } from '#observability/log.ts';
import { RELEASE } from '#observability/release-version.ts';
import {
  type FinishedSpan,
  SPAN_KINDS,
  type TraceSettings,
  traceInto,
} from '#observability/tracing.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';

/** Maximum delay of a span, and minimum interval between requests to the trace receiver. */
const FLUSH_EVERY_MS = 1_000;
const MAX_BATCH = 512;
/**
 * Maximum number of waiting spans, a few seconds' worth of a busy process. While the receiver is
 * unreachable, further spans are dropped, so that memory stays bounded.
 */
const MAX_WAITING = 8_192;
const ANSWER_MS = 5_000;
const FAILED = 2;

type Value = string | number | boolean;

function toValue(value: Value) {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function attributesOf(attributes: Readonly<Record<string, Value>>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

const nanoseconds = (ms: number) => `${BigInt(Math.round(ms * 1_000)) * 1_000n}`;

function render(span: FinishedSpan) {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId === null ? {} : { parentSpanId: span.parentId }),
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: attributesOf(span.attributes),
    status: span.fault === null ? {} : { code: FAILED, message: span.fault },
  };
}

/** Identifies this process; after a restart it is another instance. */
const INSTANCE = randomUUID();

/**
 * Sends this process's spans as JSON over HTTP (OTLP), in batches, in the background.
 * @returns a function that stops it. Without settings, nothing is traced.
 */
export function startTraceExport(settings: TraceSettings | null, log: Log): () => Promise<void> {
  if (settings === null) return async () => {};
  const { endpoint, headers, ratio } = settings;
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const named = {
    'service.name': 'tapline',
    'service.version': RELEASE,
    'service.instance.id': INSTANCE,
  };
  const resource = { attributes: attributesOf(named) };
  let waiting: FinishedSpan[] = [];
  let lost = 0;
  const flush = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      const scopeSpans = [{ scope: { name: 'tapline' }, spans: batch.map(render) }];
      try {
        const answer = await plainFetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
          signal: AbortSignal.timeout(ANSWER_MS),
        });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`status ${answer.status}`);
      } catch (error) {
        lost += batch.length;
        log.warn('trace spans were not delivered', { lost, error: describeError(error) });
        return;
      }
    }
  };
  let flushing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, FLUSH_EVERY_MS);
  timer.unref();
  const sink = (span: FinishedSpan) => {
    if (waiting.length < MAX_WAITING) waiting.push(span);
    else lost++;
  };
  traceInto({ sink, ratio });
  return async () => {
    traceInto(null);
    clearInterval(timer);
    await flushing.then(flush);
    waiting = [];
  };
}
