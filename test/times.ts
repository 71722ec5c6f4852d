import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Names the file that every test process adds its line to; not set: nobody wants to know. The
 * service refuses names that begin like its own settings and are none.
 */
export const TIMES_SETTING = 'TEST_TIMES_FILE';

interface FileTimes {
  readonly file: string;
  /** From the start of its process to the end. */
  readonly seconds: number;
  /** Processor time of the process itself. */
  readonly own: number;
  /** Of the processes that it has started and seen to their end: chains, services, builds. */
  readonly children: number;
}

/** Kernel ticks in a second, which Linux has fixed for programs. */
const TICKS = 100;

/** Processor time of all waited-for children, and of theirs; 0 where the kernel does not say. */
export function childrenSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Counted behind the name, which may hold spaces: user and system time of waited-for children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS;
  } catch {
    return 0;
  }
}

/** At the end of a test process: how long it took, and how much of that was work. */
export function noteTimes(): void {
  const list = process.env[TIMES_SETTING];
  if (list === undefined) return;
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    const times: FileTimes = {
      file: path.relative(process.cwd(), process.argv[1] ?? ''),
      seconds: performance.now() / 1_000,
      own: (user + system) / 1_000_000,
      children: childrenSeconds(),
    };
    appendFileSync(list, `${JSON.stringify(times)}\n`);
  });
}

/** Tables show this many files; the rest is their sum. */
const MOST = 60;

/** The files that took longest, as a table of seconds. */
export function timesTable(list: string): string {
  const all = readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): FileTimes => JSON.parse(line))
    .sort((a, b) => b.seconds - a.seconds);
  const row = (file: string, some: readonly FileTimes[]) => {
    const cells = (['seconds', 'own', 'children'] as const).map((name) =>
      some.reduce((sum, one) => sum + one[name], 0),
    );
    return `| ${file} | ${cells.map((cell) => cell.toFixed(1)).join(' | ')} |`;
  };
  return [
    '| file | seconds | processor, own | of its children |',
    '|---|---|---|---|',
    ...all.slice(0, MOST).map((one) => row(one.file, [one])),
    ...(all.length > MOST ? [row(`${all.length - MOST} others`, all.slice(MOST))] : []),
    row(`all ${all.length}`, all),
  ].join('\n');
}
