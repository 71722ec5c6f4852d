import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** One line of a benchmark's table. Fields that do not apply are omitted. */
export interface BenchLine {
  readonly work: string;
  readonly perSecond?: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly p99Ms?: number;
  /** Number of failed requests. A line with failures shows no other number. */
  readonly failures?: number;
  /** The floor: operations per second of a minimal loop that does the same work in the same run. */
  readonly floor?: number;
  readonly ratio?: number;
  /** A value that fits no column, such as `148 MB`. */
  readonly value?: string;
  readonly target?: string;
}

export const RESULTS = path.join(import.meta.dirname, 'results');

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

const round = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

/**
 * Removes the other numbers from a line with failures, because they would include the speed of
 * failed requests.
 */
function measuredOnly(line: BenchLine): BenchLine {
  const { work, failures = 0, target } = line;
  if (failures === 0) return line;
  process.exitCode = 1;
  const value = `not measured: ${failures} requests failed`;
  return { work, failures, value, ...(target !== undefined && { target }) };
}

/** Prints lines in the format that all benchmarks share. */
export function printTable(lines: readonly BenchLine[]): void {
  console.table(
    lines.map(measuredOnly).map((line) => ({
      work: line.work,
      'per s': round(line.perSecond, 0),
      'p50 ms': round(line.p50Ms, 1),
      'p95 ms': round(line.p95Ms, 1),
      'p99 ms': round(line.p99Ms, 1),
      failures: line.failures ?? '',
      'floor per s': round(line.floor, 0),
      ratio: round(line.ratio, 2),
      value: line.value ?? '',
      target: line.target ?? '',
    })),
  );
}

/** Prints the lines and writes them to `bench/results/<name>.json` for the combined table. */
export async function report(name: string, lines: readonly BenchLine[]): Promise<void> {
  printTable(lines);
  await mkdir(RESULTS, { recursive: true });
  const text = JSON.stringify({ at: new Date(), lines: lines.map(measuredOnly) }, null, 2);
  await writeFile(path.join(RESULTS, `${name}.json`), `${text}\n`);
}
