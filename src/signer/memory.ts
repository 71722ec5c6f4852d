import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
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

/**
 * One file per key, a line for each signature. A caller who got no answer asks again and gets the
 * same bytes. Other bytes for a nonce are signed only as a replacement that outbids the last ones.
 */
export async function openMemory(folder: string, name: string): Promise<Memory> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${name.toLowerCase()}.jsonl`);
  const newest = new Map<number, Remembered>();
  const times: number[] = [];
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // A line that a power cut left half written was never answered.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n').filter((one) => one !== '')) {
    const one = JSON.parse(line) as Remembered;
    newest.set(one.nonce, one);
    times.push(one.at);
  }
  const handle = await open(file, 'a', 0o600);
  if (whole.length < text.length) await handle.truncate(Buffer.byteLength(whole));
  return memoryOf(handle, newest, times);
}

function memoryOf(handle: FileHandle, newest: Map<number, Remembered>, times: number[]): Memory {
  return {
    judge: ({ nonce, unsigned, maxFeePerGas }, { perHour, now }) => {
      const last = newest.get(nonce);
      if (last?.unsigned === unsigned) return { kind: 'again', signed: last.signed };
      const least = last === undefined ? 0n : raised(BigInt(last.maxFeePerGas));
      if (maxFeePerGas < least) {
        return { kind: 'refused', reason: `nonce ${nonce} was signed, and this offers no more` };
      }
      const recent = times.filter((at) => now - at < HOUR_MS).length;
      if (recent >= perHour) {
        return { kind: 'refused', reason: `this key signs ${perHour} transactions in an hour` };
      }
      return { kind: 'new' };
    },
    note: async (one) => {
      await handle.appendFile(`${JSON.stringify(one)}\n`);
      await handle.datasync();
      newest.set(one.nonce, one);
      times.push(one.at);
      while ((times[0] ?? one.at) < one.at - HOUR_MS) times.shift();
    },
    close: () => handle.close(),
  };
}

function raised(fee: bigint): bigint {
  return fee + (fee + RAISED_BY - 1n) / RAISED_BY;
}
