import { redact } from '#core/redact.ts';

/** What is worth a line for the people who run the service. Never secrets, never personal data. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = { readonly [key: string]: unknown };

export interface LogOptions {
  /** Values that no line ever shows, even if the message of a fault holds them. */
  readonly secrets?: readonly string[];
  /** In each line, under the name that OpenTelemetry has for it. */
  readonly release?: string;
}

/** Where something was: the same message of two places is told twice. */
const PLACES = ['network', 'loop', 'worker', 'sender', 'node', 'endpoint'] as const;

/** One line of JSON on stderr; stdout belongs to what commands print. */
export function writeEntry(
  entry: LogFields & { readonly message: string },
  { secrets = [] }: LogOptions = {},
): void {
  process.stderr.write(`${redact(JSON.stringify(entry, plain), secrets)}\n`);
}

/**
 * One line per entry. The same message (of one place, with one fault) is told once in ten seconds,
 * with how often it was left out in between; only the object that it names differs.
 */
export function stderrLog(now: () => Date = () => new Date(), options: LogOptions = {}): Log {
  const { release } = options;
  const own = release === undefined ? {} : { 'service.version': release };
  const tell = (level: string, message: string, fields: LogFields) => {
    const time = now().toISOString();
    writeEntry({ time, level, message, ...own, ...withoutOwn(fields) }, options);
  };
  const repeats = createRepeats();
  const write = (level: string, message: string, fields: LogFields = {}) => {
    const fault = fields.error === undefined ? '' : describeError(fields.error);
    const places = PLACES.map((place) => String(fields[place]));
    repeats.note([level, message, fault, ...places].join('\n'), (leftOut) =>
      tell(level, message, leftOut === 0 ? fields : { ...fields, left_out: leftOut }),
    );
  };
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}

/** No field of an entry takes the place of what every line has. */
function withoutOwn({ time: _time, level: _level, message: why, ...fields }: LogFields): LogFields {
  return why === undefined ? fields : { ...fields, why };
}

/** For tests and commands whose output is their own. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** The message of a fault and of what caused it, on one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describeError(error.cause)}`;
  return `${error.message}${cause}`;
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? describeError(value) : value;
}

/** Tells something now, with how many of its kind were left out since it was told last. */
type Tell = (leftOut: number) => void;

interface Repeats {
  /** Tells the first of a kind at once; of those that follow only the last, when its time is up. */
  note(kind: string, tell: Tell): void;
}

/** An outage of a minute is then six lines per loop instead of thousands. */
const SAME_EVERY_MS = 10_000;
/** Kinds that are remembered. One more is told at once: rather a line too many than one too few. */
const MAX_KINDS = 1_000;

function createRepeats(): Repeats {
  /** What came since the kind was told: how often, and the last of it. */
  const since = new Map<string, { count: number; tell: Tell }>();

  const tellAgainLater = (kind: string) => {
    since.set(kind, { count: 0, tell: () => {} });
    const timer = setTimeout(() => {
      const { count, tell } = since.get(kind) ?? { count: 0, tell: () => {} };
      since.delete(kind);
      if (count === 0) return;
      tellAgainLater(kind);
      tell(count - 1);
    }, SAME_EVERY_MS);
    timer.unref();
  };
  return {
    note: (kind, tell) => {
      const known = since.get(kind);
      if (known !== undefined) {
        known.count++;
        known.tell = tell;
        return;
      }
      if (since.size < MAX_KINDS) tellAgainLater(kind);
      tell(0);
    },
  };
}
