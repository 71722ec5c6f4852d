import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/**
 * Spans that the code creates itself at the steps of a sale. With tracing off (the default),
 * `startSpan` returns null before it allocates or stores anything.
 */

/** The kinds of spans and their numbers in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;

export type SpanKind = keyof typeof SPAN_KINDS;
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** The error; `null` if the work succeeded. */
  readonly fault: string | null;
}

export interface Span {
  /** The `traceparent` header (W3C Trace Context) to give to child spans. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  fail(fault: string): void;
  end(): void;
}

/** An object that stores its position in a trace. Without one, it is not traced. */
export interface Traced {
  readonly traceparent?: string | null;
}

export interface Tracing {
  /** Receives finished spans; must be quick, and must never throw. */
  readonly sink: (span: FinishedSpan) => void;
  /** The share, from 0 to 1, of sales without a parent span that are traced. */
  readonly ratio: number;
}

/** The destination of spans: the base URL of an OTLP/HTTP receiver. */
export interface TraceSettings {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ratio: number;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

let tracing: Tracing | null = null;
const active = new AsyncLocalStorage<string>();

/** Starts tracing; `null` stops it. Always applies to the whole process. */
export function traceInto(next: Tracing | null): void {
  tracing = next;
}

/** True if tracing is on. Otherwise, looking for a parent span would be wasted work. */
export function isTracing(): boolean {
  return tracing !== null;
}

interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

function parse(traceparent: string | null | undefined): Parent | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Returns the traceparent of the current work, to be stored in rows; null if there is none. */
export function activeTraceparent(): string | null {
  return tracing === null ? null : (active.getStore() ?? null);
}

/** Runs the work with the span as its active parent. */
export function inSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : active.run(span.traceparent, work);
}

/**
 * Starts a span as a child of `parent` or, if that is null, as the root of a new trace.
 * @returns null if tracing is off, or if this trace is not sampled
 */
export function startSpan(
  name: string,
  begun: {
    readonly parent: string | null | undefined;
    readonly kind?: SpanKind;
    readonly attributes?: Attributes;
    /** The start time of the work, if the span is created after it. */
    readonly startMs?: number;
  },
): Span | null {
  if (tracing === null) return null;
  const { sink, ratio } = tracing;
  const parent = parse(begun.parent);
  if (parent === null ? Math.random() >= ratio : !parent.sampled) return null;
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  const startMs = begun.startMs ?? Date.now();
  let attributes = begun.attributes ?? {};
  let fault: string | null = null;
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    set: (more) => {
      attributes = { ...attributes, ...more };
    },
    fail: (why) => {
      fault = why;
    },
    end: () => {
      const [parentId, kind] = [parent?.spanId ?? null, begun.kind ?? 'internal'];
      const times = { startMs, endMs: Date.now() };
      sink({ traceId, spanId, parentId, name, kind, ...times, attributes, fault });
    },
  };
}

/** Creates a span for finished work whose database row stores a traceparent. */
export function traceSpan(
  name: string,
  timed: { readonly parent: unknown; readonly startMs: number; readonly attributes: Attributes },
): void {
  // Work without a parent is not traced.
  if (tracing === null || typeof timed.parent !== 'string') return;
  startSpan(name, { ...timed, parent: timed.parent })?.end();
}
