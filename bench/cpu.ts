import { readdir, readFile } from 'node:fs/promises';

/** Measures the processor time of processes and their descendants, from Linux's /proc. */

/** The value of `getconf CLK_TCK`, which is the same on every Linux system today. */
const TICKS_PER_SECOND = 100;

interface Seen {
  readonly parent: number;
  readonly ticks: number;
}

/** Reads the processor time of a process and of its ended children. */
async function look(pid: string): Promise<Seen | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // Counts the fields after the process name, which is in parentheses and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

/**
 * Returns the processor time in seconds that these processes and their descendants have used. Linux
 * only.
 */
export async function cpuSeconds(roots: readonly number[]): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const seen = new Map<number, Seen>();
  for (const pid of pids) {
    const one = await look(pid);
    if (one !== null) seen.set(Number(pid), one);
  }
  const belongs = (pid: number): boolean => {
    if (roots.includes(pid)) return true;
    const parent = seen.get(pid)?.parent ?? 0;
    return parent > 1 && belongs(parent);
  };
  let ticks = 0;
  for (const [pid, one] of seen) if (belongs(pid)) ticks += one.ticks;
  return ticks / TICKS_PER_SECOND;
}
