import { randomInt } from 'node:crypto';

/** The seed of all random histories in this process. Set `SEED` to repeat one that failed. */
export const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));

/** A range of milliseconds from which pauses are chosen. */
export interface PauseMs {
  readonly low: number;
  readonly high: number;
}

/** Random choices that a seed reproduces. Each part of a history has its own stream of them. */
export interface Random {
  /** Returns a whole number from 0 to `limit - 1`. */
  below(limit: number): number;
  /** Returns a whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** Returns true with this probability in percent. */
  chance(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Returns 24 hex digits. No two calls return the same. */
  key(): string;
}

const UINT32 = 0x1_0000_0000;

/** Hashes a text to 32 bits, so that streams with the same seed but different names differ. */
function hash(text: string): number {
  let value = 0x811c_9dc5;
  for (const character of text) {
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x0100_0193);
  }
  return value >>> 0;
}

/**
 * Creates a stream of random numbers by xorshift and a Weyl sequence, which is little code and
 * random enough to choose faults.
 */
export function createRandom(seed: number, stream: string): Random {
  let state = (hash(`${seed} ${stream}`) | 1) >>> 0;
  let weyl = hash(`${stream} ${seed}`);
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    weyl = (weyl + 0x9e37_79b9) >>> 0;
    return ((state >>> 0) + weyl) % UINT32;
  };
  const below = (limit: number) => Math.floor((next() / UINT32) * limit);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (percent) => below(100) < percent,
    pick: (list) => {
      const item = list[below(list.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    key: () => [next(), next(), next()].map((word) => word.toString(16).padStart(8, '0')).join(''),
  };
}
