/** Block numbers are decimal strings. */
export interface RecoveryPlace {
  readonly from_block: string | null;
  readonly read_to: string | null;
  readonly head: string | null;
}

export interface Progress {
  /** From 0 to 1, or `null` if unknown. */
  readonly share: number | null;
  readonly words: string;
}

function count(blocks: bigint): string {
  return new Intl.NumberFormat('en-US').format(blocks);
}

/**
 * Returns the share of the chain that has been read. It stays below 1, because the head keeps
 * advancing.
 */
export function progressOf({ from_block: from, read_to: to, head }: RecoveryPlace): Progress {
  if (head === null)
    return { share: null, words: 'No node answers. It continues as soon as one does.' };
  if (from === null || to === null)
    return { share: null, words: 'It has not started reading yet.' };
  const all = BigInt(head) - BigInt(from) + 1n;
  const read = BigInt(to) - BigInt(from) + 1n;
  if (all <= 0n || read < 0n)
    return { share: null, words: `Read up to block ${count(BigInt(to))}.` };
  const left = read >= all ? 0n : all - read;
  const share = Math.min(Number(read) / Number(all), 0.99);
  return {
    share,
    words: `Block ${count(BigInt(to))} of ${count(BigInt(head))}, ${count(left)} to go.`,
  };
}
