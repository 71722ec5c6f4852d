import { type Address, concat, type Hex, numberToHex, type PublicClient, size } from 'viem';

export interface ProgramCall {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

// Lengths of the program's parts, in bytes.
const COPY_LENGTH = 10;
const CALL_LENGTH = 36;
/** Two words of results: AND. */
const AND: Hex = '0x16';
/** Gas for the program itself, and the share of the gas that EIP-150 withholds from calls. */
const PROGRAM_GAS = 700_000n;
/** Gas per byte: the higher price of call data (EIP-7623) plus the cost of init code. */
const BYTE_GAS = 50n;
const WORD_LENGTH = 66;

/**
 * Simulates calls one after the other, as one program at the address of a new contract. The program
 * never reverts, so a refusal by a contract is a result, however a node reports a revert; an error
 * is a fault of the node.
 * @param expected the first word that the last call must return, as a call that changes nothing
 * @returns true if all calls succeed
 * @throws BaseError if the node did not run the program.
 */
export async function simulate(
  client: PublicClient,
  calls: readonly ProgramCall[],
  expected?: Hex,
): Promise<boolean> {
  const data = programOf(calls, expected);
  const gas = calls.reduce((sum, one) => sum + one.gas, PROGRAM_GAS);
  // A call gets its gas only if a 64th more is left.
  const { data: word } = await client.call({
    data,
    gas: (gas * 65n) / 64n + BigInt(size(data)) * BYTE_GAS,
  });
  if (word?.length !== WORD_LENGTH) throw new Error('the node did not run a simulation');
  return BigInt(word) === 1n;
}

/** Encodes the calls; the program returns the word 1 if all succeed, otherwise 0. */
function programOf(calls: readonly ProgramCall[], expected: Hex | undefined): Hex {
  const end = endOf(expected);
  const ands = calls.slice(1).map(() => AND);
  const length = calls.length * (COPY_LENGTH + CALL_LENGTH) + ands.length + size(end);
  const parts: Hex[] = [];
  let offset = length;
  for (const [index, call] of calls.entries()) {
    const isQuestion = expected !== undefined && index === calls.length - 1;
    parts.push(copyOf(call, offset), callOf(call, isQuestion));
    offset += size(call.data);
  }
  return concat([...parts, ...ands, end, ...calls.map(({ data }) => data)]);
}

/** memory := the call's data, which is stored after the program's code. */
function copyOf({ data }: ProgramCall, offset: number): Hex {
  return concat(['0x62', word3(size(data)), '0x62', word3(offset), '0x5f39']);
}

/** ok := call(gas, to, 0, the memory); the first word that it returns replaces the memory's. */
function callOf({ to, data, gas }: ProgramCall, isQuestion: boolean): Hex {
  const memory = concat(['0x60205f62', word3(size(data)), '0x5f']);
  const target = concat(['0x73', to, '0x63', numberToHex(gas, { size: 4 })]);
  // JUMPDEST, which does nothing, gives both kinds of call the same length.
  return isQuestion ? concat([memory, target, '0xfa5b']) : concat([memory, '0x5f', target, '0xf1']);
}

/** Returns ok and, if a word is expected, that a whole word was returned and is that one. */
function endOf(expected: Hex | undefined): Hex {
  const isExpected =
    expected === undefined ? '0x' : concat(['0x601f3d11165f51', '0x7f', expected, '0x1416']);
  return concat([isExpected, '0x5f5260205ff3']);
}

function word3(value: number): Hex {
  return numberToHex(value, { size: 3 });
}
