import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Hex } from '#settlement/requests.ts';

/** What was signed at a nonce. */
export interface Remembered {
  readonly nonce: number;
  readonly unsigned: Hex;
  readonly signed: Hex;
  readonly maxFeePerGas: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type Verdict =
  | { readonly kind: 'new' }
  | { readonly kind: 'again'; readonly signed: Hex }
  /** A replacement has to offer more. */
  | { readonly kind: 'outbid'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Memory {
  judge(
    asked: { readonly nonce: number; readonly unsigned: Hex; readonly maxFeePerGas: bigint },
    limit: { readonly perHour: number; readonly now: number },
  ): Verdict;
  /** On the disk when it returns: before that, nobody may see the bytes. */
  note(one: Remembered): Promise<void>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Nodes take a replacement only if it offers a tenth more. */
const RAISED_BY = 10n;
/** Nonces, the highest ones: a node keeps fewer transactions of one account waiting. */
const KEPT_NONCES = 256;
/** The file is written anew when it has so many lines. */
const MOST_LINES = 4 * KEPT_NONCES;

/** The first line of a file that was written anew. */
interface Head {
  /** Nothing is signed below it any more: what was signed there is forgotten. */
  readonly floor: number;
  /** When the signatures of the last hour were given, those of the next lines included. */
  readonly times: readonly number[];
  /** So many lines follow that were there before. */
  readonly kept: number;
}

interface State {
  readonly newest: Map<number, Remembered>;
  readonly times: number[];
  floor: number;
  lines: number;
}

/**
 * One file per key, a line for each signature. A caller who got no answer asks again and gets the
 * same bytes. Other bytes for a nonce are signed only as a replacement that outbids the last ones.
 * No caller is believed about what is final: of the nonces only the highest are kept, and below the
 * lowest of them nothing is signed, so what is forgotten cannot be signed a second time.
 */
export async function openMemory(folder: string, name: string): Promise<Memory> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${name.toLowerCase()}.jsonl`);
  const state: State = { newest: new Map(), times: [], floor: 0, lines: 0 };
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // A line that a power cut left half written was never answered.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  let counted = 0;
  for (const line of whole.split('\n').filter((one) => one !== '')) {
    const one = JSON.parse(line) as Remembered | Head;
    if ('floor' in one) {
      state.floor = one.floor;
      state.times.push(...one.times);
      counted = one.kept;
    } else {
      keep(state, one);
      if (counted-- <= 0) count(state, one.at);
    }
    state.lines++;
  }
  const handle = await open(file, 'a', 0o600);
  if (whole.length < text.length) await handle.truncate(Buffer.byteLength(whole));
  return memoryOf({ file, handle }, state);
}

function keep(state: State, one: Remembered): void {
  const { newest } = state;
  newest.set(one.nonce, one);
  if (newest.size > KEPT_NONCES) newest.delete(Math.min(...newest.keys()));
  if (newest.size === KEPT_NONCES) state.floor = Math.min(...newest.keys());
}

function count({ times }: State, at: number): void {
  times.push(at);
  while ((times[0] ?? at) < at - HOUR_MS) times.shift();
}

/** A power cut leaves either file whole: the new one takes the old one's name at once. */
async function writeAnew(file: string, { newest, times, floor }: State): Promise<FileHandle> {
  const kept = [...newest.values()];
  const head: Head = { floor, times, kept: kept.length };
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', 0o600);
  await handle.writeFile([head, ...kept].map((one) => `${JSON.stringify(one)}\n`).join(''));
  await handle.sync();
  await handle.close();
  await rename(fresh, file);
  const folder = await open(path.dirname(file));
  await folder.sync();
  await folder.close();
  return open(file, 'a', 0o600);
}

interface Disk {
  readonly file: string;
  handle: FileHandle;
}

function memoryOf(disk: Disk, state: State): Memory {
  return {
    judge: ({ nonce, unsigned, maxFeePerGas }, { perHour, now }) => {
      const last = state.newest.get(nonce);
      if (last?.unsigned === unsigned) return { kind: 'again', signed: last.signed };
      if (nonce < state.floor) {
        return { kind: 'refused', reason: `nonce ${nonce} is below those that are remembered` };
      }
      const least = last === undefined ? 0n : raised(BigInt(last.maxFeePerGas));
      if (maxFeePerGas < least) {
        return { kind: 'outbid', reason: `nonce ${nonce} was signed, and this offers no more` };
      }
      const recent = state.times.filter((at) => now - at < HOUR_MS).length;
      if (recent >= perHour) {
        return { kind: 'refused', reason: `this key signs ${perHour} transactions in an hour` };
      }
      return { kind: 'new' };
    },
    note: async (one) => {
      await disk.handle.appendFile(`${JSON.stringify(one)}\n`);
      await disk.handle.datasync();
      keep(state, one);
      count(state, one.at);
      state.lines++;
      if (state.lines < MOST_LINES) return;
      const old = disk.handle;
      disk.handle = await writeAnew(disk.file, state);
      state.lines = state.newest.size + 1;
      await old.close();
    },
    close: () => disk.handle.close(),
  };
}

function raised(fee: bigint): bigint {
  return fee + (fee + RAISED_BY - 1n) / RAISED_BY;
}
