import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Setting that names the file to which every test process appends a line; if unset, nothing is
 * recorded. Its prefix differs from the service's, because the service refuses unknown settings
 * with its own prefix.
 */
const TIMES_SETTING = 'TEST_TIMES_FILE';

interface FileTimes {
  readonly file: string;
  /** Time from the start of the process to its end. */
  readonly seconds: number;
  /** CPU time of the process itself. */
  readonly own: number;
  /** CPU time of its finished children: chains, services, builds. */
  readonly children: number;
}

/** Kernel ticks per second, which Linux fixes for user space. */
const TICKS = 100;

/**
 * Returns the CPU time of all finished children and their descendants; 0 if the kernel does not
 * report it.
 */
export function childrenSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Fields are counted after the name, which may contain spaces: user and system time of finished
    // children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS;
  } catch {
    return 0;
  }
}

/** Records the duration and CPU time of a test process at its end. */
export function noteTimes(): void {
  const list = process.env[TIMES_SETTING];
  if (list === undefined) return;
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    const times: FileTimes = {
      file: path.basename(process.argv[1] ?? ''),
      seconds: performance.now() / 1_000,
      own: (user + system) / 1_000_000,
      children: childrenSeconds(),
    };
    appendFileSync(list, `${JSON.stringify(times)}\n`);
  });
}

/** Maximum number of files in a table. Its last row sums up the rest. */
const MOST = 60;

/** Returns the slowest files, as a table in seconds. */
function timesTable(list: string): string {
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

/** Prints the times of a run at its end. */
export async function withTimes(run: () => Promise<number>): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-times-'));
  const list = path.join(folder, 'times');
  process.env[TIMES_SETTING] = list;
  const code = await run();
  console.log(timesTable(list));
  // Includes PostgreSQL, browser and chains, which end with the run.
  const [took, busy] = [performance.now() / 1_000, childrenSeconds()];
  console.log(`${took.toFixed(0)} s, with ${busy.toFixed(0)} s of processor time in all`);
  rmSync(folder, { recursive: true });
  return code;
}
