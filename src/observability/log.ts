import { redact } from '#observability/redact.ts';

/**
 * Logs events that matter to operators. Entries never contain secrets. The only personal data in
 * them is the IP address of a client that sent a malformed request.
 */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = { readonly [key: string]: unknown };

export interface LogOptions {
  /** Values to mask in every line, because an error message may contain them. */
  readonly secrets?: readonly string[];
  /** The release, added to each line under OpenTelemetry's name for it. */
  readonly release?: string;
  /** True for a person at a terminal, who reads text more easily than JSON. */
  readonly asText?: boolean;
}

/**
 * Fields that distinguish entries: a message is a repetition only if all of these are equal, too.
 */
const PLACES = [
  'network',
  'loop',
  'worker',
  'sender',
  'node',
  'endpoint',
  'feed',
  'currencies',
] as const;

/** Writes one line of JSON to stderr, because stdout belongs to the output of commands. */
export function writeEntry(
  entry: LogFields & { readonly message: string },
  { secrets = [], asText = false }: LogOptions = {},
): void {
  const line = asText ? textOf(entry) : JSON.stringify(entry, plain);
  process.stderr.write(`${redact(line, secrets)}\n`);
}

const [TIME_START, TIME_END] = ['2026-12-01T'.length, '2026-12-01T12:00:00'.length];

/** Returns an entry as a line of text: `12:00:00 warn: message (field value, …)`. */
function textOf({ time, level, message, 'service.version': _, ...fields }: LogFields): string {
  const facts = Object.entries(fields).map(([name, value]) => {
    return `${name} ${typeof value === 'string' ? value : JSON.stringify(value, plain)}`;
  });
  const at = String(time).slice(TIME_START, TIME_END);
  const line = `${at} ${level}: ${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
  // A message of another program must not begin a line of its own or steer the terminal.
  return line.replaceAll(/\p{Cc}/gu, ' ');
}

/**
 * Creates a log with one line per entry. A repeated message (with the same level, fault and
 * `PLACES`) is written only once in ten seconds, with the number of omitted entries.
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
    const places = PLACES.map((field) => String(fields[field]));
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

/**
 * Removes fields that would overwrite the standard fields of every line. `message` becomes `why`.
 */
function withoutOwn({ time: _time, level: _level, message: why, ...fields }: LogFields): LogFields {
  return why === undefined ? fields : { ...fields, why };
}

/** Returns a log that adds these fields to each entry. */
export function logWith(log: Log, always: LogFields): Log {
  return {
    info: (message, fields) => log.info(message, { ...always, ...fields }),
    warn: (message, fields) => log.warn(message, { ...always, ...fields }),
    error: (message, fields) => log.error(message, { ...always, ...fields }),
  };
}

/** A log that writes nothing, for tests and for commands with their own output. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Returns the message of an error and of its causes, on one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describeError(error.cause)}`;
  return `${error.message}${cause}`;
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? describeError(value) : value;
}

/** `leftOut` is the number of entries of its kind that were omitted since the last line. */
type Tell = (leftOut: number) => void;

interface Repeats {
  /**
   * Writes the first entry of a kind immediately. Of later ones, writes only the last, at the end
   * of the interval.
   */
  note(kind: string, tell: Tell): void;
}

/**
 * Interval between lines of one kind. An outage of a minute then writes six lines per loop, not
 * thousands.
 */
const SAME_EVERY_MS = 10_000;
/**
 * Maximum number of kinds to track. Entries of further kinds are all written, so that none is lost.
 */
const MAX_KINDS = 1_000;

function createRepeats(): Repeats {
  /**
   * For each kind, the entries since its last line: their number, and how to write the last one.
   */
  const since = new Map<string, { count: number; tell: Tell }>();

  const repeatLater = (kind: string) => {
    since.set(kind, { count: 0, tell: () => {} });
    const timer = setTimeout(() => {
      const { count, tell } = since.get(kind) ?? { count: 0, tell: () => {} };
      since.delete(kind);
      if (count === 0) return;
      repeatLater(kind);
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
      if (since.size < MAX_KINDS) repeatLater(kind);
      tell(0);
    },
  };
}
