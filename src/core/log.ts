import { createRepeats } from '#core/repeats.ts';

/** What is worth a line for whoever runs the service. Never secrets, never personal data. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = { readonly [key: string]: unknown };

/**
 * One JSON line per entry on stderr; stdout belongs to what commands print. The same fault is told
 * once in ten seconds, with how often it was left out in between.
 */
export function stderrLog(now: () => Date = () => new Date()): Log {
  const tell = (level: string, message: string, fields: LogFields) => {
    const entry = { time: now().toISOString(), level, message, ...fields };
    process.stderr.write(`${JSON.stringify(entry, plain)}\n`);
  };
  const repeats = createRepeats();
  const write = (level: string, message: string, fields: LogFields = {}) => {
    const { error } = fields;
    if (error === undefined) return tell(level, message, fields);
    // What is the same is the fault and where it was, not the request that met it.
    const place = [fields.network, fields.loop, fields.worker].map(String);
    const fault = [level, message, describeError(error), ...place].join('\n');
    repeats.note(fault, (leftOut) =>
      tell(level, message, leftOut === 0 ? fields : { ...fields, left_out: leftOut }),
    );
  };
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
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
