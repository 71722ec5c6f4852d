import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';

/** The head's time, plus the time since that look: an idle chain is looked at rarely. */
export function chainTime(relayer: RelayerState): Date {
  const head = present(relayer.head, 'head: no block was seen yet');
  const { answeredAt } = relayer.sight;
  const sinceMs = answeredAt === null ? 0 : performance.now() - answeredAt;
  return new Date(head.time.getTime() + sinceMs);
}

/**
 * Where the chain should be by now, by its rhythm, so that counts from there do not begin too
 * early.
 */
export function heightNow({ head, sight, rhythm }: RelayerState): bigint {
  const known = head?.number ?? 0n;
  const intervalMs = blockInterval(rhythm);
  if (intervalMs === null || sight.answeredAt === null) return known;
  return known + BigInt(Math.floor((performance.now() - sight.answeredAt) / intervalMs));
}

/** A state that is older may lack what was done a moment ago. */
const FRESH_MS = 2_000;

/** The newest known block; it is asked for when the last look is too long ago. */
export async function freshHeight({ chain, head, sight }: RelayerState): Promise<bigint> {
  const known = head?.number ?? 0n;
  if (sight.answeredAt !== null && performance.now() - sight.answeredAt < FRESH_MS) return known;
  const { number } = await chain.newest();
  return number > known ? number : known;
}

/** Looks at nodes of which some lag: one of them is at the newest block. */
const SPREAD_LOOKS = 4;

const SPREAD_LOOK_MS = 50;

/** The newest block right now, for checks that an older state must not refuse. */
export async function newestHeight({ chain, head, spread }: RelayerState): Promise<bigint> {
  const looks = spread > 0n ? SPREAD_LOOKS : 1;
  let highest = head?.number ?? 0n;
  for (let look = 0; look < looks; look++) {
    if (look > 0) await sleep(SPREAD_LOOK_MS);
    const { number } = await chain.newest();
    if (number > highest) highest = number;
  }
  return highest;
}
