import { concat, numberToHex, size } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';

/** If the call fails, the program returns a zero word. */
export interface ProgramCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

// Lengths of the program's parts, in bytes. They are fixed, so that each jump offset is known in
// advance.
const COPY_LENGTH = 10;
const CALL_LENGTH = 35;
const STATIC_CALL_LENGTH = 34;
const CHECK_LENGTH = 5;
const FAIL = '0x5b5f5f5260205ff3'; // fail: return zeros

/**
 * Returns 1 if the first word that the last call returned is the expected one; fails if it returned
 * less than a word. The word itself is not returned, because nodes refuse one that begins with 0xef
 * (EIP-3541).
 */
const answerOf = (expected: Hex) => ({
  condition: '0x601f3d1116' as Hex, // ok := ok and more than 31 bytes were returned
  end: concat(['0x60205f5f3e5f517f', expected, '0x145f5260205ff3']), // return word == expected
});
/** Returns 1. */
const DONE = { condition: '0x', end: '0x60015f5260205ff3' } as const;

/**
 * Encodes a program that makes these calls in order and never reverts: it returns one word, which
 * is 1, or 0 if a call failed. (If the node made the calls directly, a contract's refusal would
 * look like a fault of the node.) The last call is a STATICCALL that must return the word
 * `expected` or, without one, a CALL that only has to succeed.
 */
export function callProgram(
  calls: readonly ProgramCall[],
  { expected }: { readonly expected?: Hex } = {},
): Hex {
  const ending = expected === undefined ? DONE : answerOf(expected);
  const isStatic = (index: number) => expected !== undefined && index === calls.length - 1;
  const lengthOf = (index: number) =>
    COPY_LENGTH + (isStatic(index) ? STATIC_CALL_LENGTH : CALL_LENGTH) + CHECK_LENGTH;
  const steps = calls.reduce((sum, _, index) => sum + lengthOf(index), 0);
  const fail = steps + size(ending.condition) + size(ending.end);
  const parts: Hex[] = [];
  let offset = fail + size(FAIL);
  for (const [index, call] of calls.entries()) {
    const isLast = index === calls.length - 1;
    parts.push(copyOf(call, offset), callOf(call, isStatic(index)));
    if (isLast) parts.push(ending.condition);
    parts.push(concat(['0x1561', numberToHex(fail, { size: 2 }), '0x57'])); // unless ok goto fail
    offset += size(call.data);
  }
  return concat([...parts, ending.end, FAIL, ...calls.map(({ data }) => data)]);
}

/** memory := the call's data, which is stored after the program's code. */
function copyOf({ data }: ProgramCall, offset: number): Hex {
  return concat(['0x62', word3(size(data)), '0x62', word3(offset), '0x5f39']);
}

/** ok := call(gas, to, 0, the memory); its return data is discarded. */
function callOf({ to, data, gas }: ProgramCall, isStatic: boolean): Hex {
  const length = concat(['0x5f5f62', word3(size(data)), '0x5f']);
  const target = concat(['0x73', to, '0x63', numberToHex(gas, { size: 4 })]);
  return isStatic ? concat([length, target, '0xfa']) : concat([length, '0x5f', target, '0xf1']);
}

function word3(value: number): Hex {
  return numberToHex(value, { size: 3 });
}
