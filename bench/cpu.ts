import { readdir, readFile } from 'node:fs/promises';

/** Returns the processor time that a process and all its descendants have used. Linux only. */

/** Result of `getconf CLK_TCK`, the same on every Linux today. */
const TICKS_PER_SECOND = 100;

interface Seen {
  readonly parent: number;
  readonly ticks: number;
}

/** Reads the CPU time of the process and of its reaped children. */
async function look(pid: string): Promise<Seen | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The process name is in brackets and may contain anything, so count the fields after it, from
  // field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

/** Returns the seconds of processor time of these processes and everything below them. */
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
