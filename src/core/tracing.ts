import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/**
 * Spans by hand, at the steps of a sale. Off, which is the default, nothing is made and nothing
 * stored: `startSpan` answers null before it looks at anything.
 */

/** The kind of a span, in OTLP's numbers. */
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
  /** null: it went well. */
  readonly fault: string | null;
}

export interface Span {
  /** What its children carry (W3C Trace Context). */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  fail(fault: string): void;
  end(): void;
}

/** What carries its place in a trace; without one nobody traces it. */
export interface Traced {
  readonly traceparent?: string | null;
}

export interface Tracing {
  /** Takes what has ended; quick, and never throws. */
  readonly sink: (span: FinishedSpan) => void;
  /** Of sales that nobody traces yet, this share is traced: 0 to 1. */
  readonly ratio: number;
}

/** Where spans go: the base address of an OTLP/HTTP receiver. */
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

/** Begins to make spans; null: stops. A process traces for all of its parts or for none. */
export function traceInto(next: Tracing | null): void {
  tracing = next;
}

/** Whether to look for a parent at all. */
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

/** The span that the present work belongs to, for rows that carry it on; null: none. */
export function activeTraceparent(): string | null {
  return tracing === null ? null : (active.getStore() ?? null);
}

/** Runs the work as part of the span. */
export function inSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : active.run(span.traceparent, work);
}

/**
 * Begins a span, as a child of `parent` or, where that is null, as the first of a trace of its own.
 * @returns null when nobody wants it: tracing is off, or its trace is not sampled.
 */
export function startSpan(
  name: string,
  begun: {
    readonly parent: string | null | undefined;
    readonly kind?: SpanKind;
    readonly attributes?: Attributes;
    /** When it began, if the span is made afterwards. */
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

/** A span of what is over already, for rows that say what they belong to. */
export function tellSpan(
  name: string,
  timed: { readonly parent: unknown; readonly startMs: number; readonly attributes: Attributes },
): void {
  // Without a parent nobody has asked for it.
  if (tracing === null || typeof timed.parent !== 'string') return;
  startSpan(name, { ...timed, parent: timed.parent })?.end();
}
