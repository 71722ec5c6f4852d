import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { HOUR_MS } from '#core/durations.ts';
import { makeOwnFolder, openOwn, readOwn } from '#files/own-files.ts';
import { replaceFile } from '#files/replace-file.ts';
import type { Hex } from '#settlement/chain-requests.ts';

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
  /** Another transaction has this nonce, and its replacement must offer a higher fee. */
  | { readonly kind: 'outbid'; readonly reason: string }
  /** Refused, unless the chain has used more nonces than the caller passed. */
  | { readonly kind: 'far'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Limit {
  readonly perHour: number;
  readonly now: number;
  /**
   * The number of nonces that the chain has used, confirmed by two nodes; `null` if no nodes are
   * configured. More may have been used since.
   */
  readonly used: number | null;
}

export interface Memory {
  judge(
    request: { readonly nonce: number; readonly unsigned: Hex; readonly maxFeePerGas: bigint },
    limit: Limit,
  ): Verdict;
  /**
   * True until this key has signed here. It may have been used elsewhere, or its folder was lost.
   */
  isEmpty(): boolean;
  /** Stores a signature durably. It must not be released before this resolves. */
  note(one: Remembered): Promise<void>;
  close(): Promise<void>;
}

/**
 * Divisor of a fee increase: nodes accept a replacement only if it offers a tenth more than the
 * transaction with the same nonce.
 */
const RAISED_BY = 10n;
/** Number of the highest nonces that are remembered. Nodes queue fewer transactions per account. */
const KEPT_NONCES = 256;
/**
 * Maximum distance of a nonce above the highest signed one. A sender has at most 16 open
 * transactions.
 */
const MOST_AHEAD = 64;
/** Maximum number of lines, after which the file is rewritten. */
const MOST_LINES = 4 * KEPT_NONCES;

/** The first line of a rewritten file. */
interface Head {
  /** Nothing is signed below this nonce, because the signatures there are forgotten. */
  readonly floor: number;
  /** Times of the last hour's signatures, including those in the following lines. */
  readonly times: readonly number[];
  /** The number of following lines that were kept from the previous file. */
  readonly kept: number;
}

interface State {
  readonly newest: Map<number, Remembered>;
  readonly times: number[];
  floor: number;
  lines: number;
}

/**
 * Opens a key's memory: a file with one line per signature. A caller that missed the response asks
 * again and gets the same transaction. A different transaction with that nonce is signed only if it
 * outbids the last one. No caller is trusted about finality: only the highest nonces are
 * remembered, and nothing is signed below them, so that a forgotten nonce is never signed twice. A
 * thief of the caller's token must not be able to make the key unusable by signing far ahead of the
 * chain. So no nonce far above the highest one is signed, and if nodes are configured, no nonce is
 * forgotten before the chain has used it.
 */
export async function openMemory(folder: string, name: string): Promise<Memory> {
  await makeOwnFolder(folder);
  const file = path.join(folder, `${name.toLowerCase()}.jsonl`);
  const state: State = { newest: new Map(), times: [], floor: 0, lines: 0 };
  const text = (await readOwn(file)) ?? '';
  // A power cut can leave an incomplete last line, whose signature was never released.
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
  const handle = await openOwn(file, 'append');
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

/** The rename is atomic, so even a power cut leaves a complete file, the old or the new one. */
async function writeAnew(file: string, { newest, times, floor }: State): Promise<FileHandle> {
  const kept = [...newest.values()];
  const head: Head = { floor, times, kept: kept.length };
  await replaceFile(file, [head, ...kept].map((one) => `${JSON.stringify(one)}\n`).join(''));
  return openOwn(file, 'append');
}

/**
 * Returns why a nonce that was never signed must wait for the chain; `null` if it need not wait.
 */
function farReason(state: State, nonce: number, used: number | null): string | null {
  const { newest } = state;
  const first = used ?? 0;
  if (newest.size === 0 && nonce < first) return `nonce ${nonce} is used: ${first} is the next one`;
  const next = Math.max(first, ...newest.keys());
  if (nonce > next + MOST_AHEAD) {
    return `nonce ${nonce} is more than ${MOST_AHEAD} above ${next}`;
  }
  if (used !== null && floorWith(state, nonce) > used) {
    return `${KEPT_NONCES} nonces are signed, and the chain has used only ${used}`;
  }
  return null;
}

/** Returns the lowest nonce that can still be signed once this nonce is signed. */
function floorWith({ newest, floor }: State, nonce: number): number {
  if (newest.size + 1 < KEPT_NONCES) return floor;
  const [lowest = 0, second = lowest] = [...newest.keys(), nonce].sort((a, b) => a - b);
  return newest.size + 1 > KEPT_NONCES ? second : lowest;
}

interface Disk {
  readonly file: string;
  handle: FileHandle;
}

function memoryOf(disk: Disk, state: State): Memory {
  return {
    judge: ({ nonce, unsigned, maxFeePerGas }, { perHour, now, used }) => {
      const last = state.newest.get(nonce);
      if (last?.unsigned === unsigned) return { kind: 'again', signed: last.signed };
      if (nonce < state.floor) {
        return { kind: 'refused', reason: `nonce ${nonce} is older than those that are kept` };
      }
      const far = last === undefined ? farReason(state, nonce, used) : null;
      if (far !== null) return { kind: 'far', reason: far };
      const least = last === undefined ? 0n : raised(BigInt(last.maxFeePerGas));
      if (maxFeePerGas < least) {
        return {
          kind: 'outbid',
          reason: `nonce ${nonce} was signed, and the new fee is not higher`,
        };
      }
      const recent = state.times.filter((at) => now - at < HOUR_MS).length;
      if (recent >= perHour) {
        return {
          kind: 'refused',
          reason: `this key signs at most ${perHour} transactions an hour`,
        };
      }
      return { kind: 'new' };
    },
    isEmpty: () => state.newest.size === 0,
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
