import { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import { steps } from '#settlement/relayer/state-machine/relayer-state.ts';
import type {
  Now,
  Observation,
  Step,
  Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';

// Records the observations that running relayers make, and their effects.
// `test/faults/record-steps.ts` makes recordings in runs with faults, and a test replays them.

/** One step of a relayer. */
export interface TakenStep {
  readonly before: Transaction;
  readonly observation: Observation;
  readonly now: Now;
  readonly after: Step;
}

/** One observation and its effects. */
interface Entry {
  readonly observation: Observation;
  readonly now: Now;
  readonly phase: Transaction['phase'];
  readonly effects: Step['effects'];
}

/** The observations that one process made of a transaction after it had read its row. */
export interface History {
  readonly start: Transaction;
  readonly entries: readonly Entry[];
}

type Line = Entry & { readonly id: bigint; readonly start?: Transaction };

/**
 * Writes a line for each step.
 * @returns a function that stops the recording
 */
export function recordSteps(write: (line: string) => void): () => void {
  const newest = new Map<bigint, Transaction>();
  const listen = (message: unknown) => {
    const { before, observation, now, after } = message as TakenStep;
    const { transaction, effects } = after;
    const { id } = before;
    // Stores the state before the step, if that came from the rows and not from the previous step.
    const start = newest.get(id) === before ? {} : { start: before };
    newest.set(id, transaction);
    const line: Line = { id, ...start, observation, now, phase: transaction.phase, effects };
    write(toText(line));
  };
  steps.subscribe(listen);
  return () => steps.unsubscribe(listen);
}

/** Groups the lines of one process into histories. */
export function toHistories(lines: readonly string[]): History[] {
  const open = new Map<bigint, { start: Transaction; entries: Entry[] }>();
  const all: History[] = [];
  for (const line of lines) {
    const { id, start, ...entry } = fromText<Line>(line);
    if (start !== undefined) {
      const fresh = { start, entries: [] };
      open.set(id, fresh);
      all.push(fresh);
    }
    open.get(id)?.entries.push(entry);
  }
  return all;
}

/**
 * Replays the observations of a history.
 * @returns the differences in phases or effects from the recording
 */
export function replay({ start, entries }: History, by: typeof step = step): string[] {
  let transaction = start;
  return entries.flatMap(({ observation, now, phase, effects }, index) => {
    const after = by(transaction, observation, now);
    transaction = after.transaction;
    const found = toText([transaction.phase, after.effects]);
    const recorded = toText([phase, effects]);
    return found === recorded
      ? []
      : [`${index}, ${observation.kind}: ${found} instead of ${recorded}`];
  });
}

/** Fields that no step reads. They would only make the recordings larger. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['input', 'raw', 'logs', 'payload', 'second', 'transactions'],
]);

export function toText(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, encoded) {
    if (LEFT_OUT.has(key)) return null;
    const plain = this[key];
    if (typeof plain === 'bigint') return { $bigint: `${plain}` };
    if (plain instanceof Date) return { $date: plain.getTime() };
    return encoded;
  });
}

export function fromText<T>(text: string): T {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('$bigint' in value) return BigInt(String(value.$bigint));
    return '$date' in value ? new Date(Number(value.$date)) : value;
  }) as T;
}
