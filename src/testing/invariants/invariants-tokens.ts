import { encodeEventTopics, encodeFunctionData, hexToBigInt, numberToHex } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** Blocks per `eth_getLogs` call. */
const RANGE = 500n;
const WORD = 64;

async function readWords(chain: Chain, to: Hex, data: Hex): Promise<bigint[]> {
  const [answer] = await chain.calls([{ to, data, words: 'any' }]);
  if (answer?.ok !== true) throw new Error('a read of the chain reverted');
  const words = answer.data.slice(2).match(new RegExp(`.{${WORD}}`, 'g')) ?? [];
  return words.map((word) => hexToBigInt(`0x${word}`));
}

type View = 'merchantCount' | 'merchantAccount';

function ask(chain: Chain, functionName: View, args: readonly number[] = []): Promise<bigint[]> {
  const call = { abi: settlementAbi, functionName, args } as never;
  return readWords(chain, chain.config.settlement, encodeFunctionData(call));
}

interface Log {
  readonly transactionHash: Hex;
  readonly data: Hex;
}

/** Reads all logs of one kind for this address. */
async function readLogs(chain: Chain, address: Hex, topics: readonly unknown[]): Promise<Log[]> {
  const { number: head } = await chain.newest();
  const logs: Log[] = [];
  for (let from = 0n; from <= head; from += RANGE) {
    const end = from + RANGE - 1n;
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(end < head ? end : head) };
    const found = await chain.rpc.call('eth_getLogs', [{ address, topics, ...range }]);
    logs.push(...(found as Log[]));
  }
  return logs;
}

/** Reads how many atoms were sent to the contract without calling it. */
async function readSurplus(chain: Chain): Promise<bigint> {
  const { usdc, settlement } = chain.config;
  const args = { to: settlement };
  const topics = encodeEventTopics({ abi: testUsdcAbi, eventName: 'Transfer', args });
  const arrived = await readLogs(chain, usdc, topics);
  const own = new Set((await readLogs(chain, settlement, [])).map((log) => log.transactionHash));
  const strange = arrived.filter(({ transactionHash }) => !own.has(transactionHash));
  return strange.reduce((sum, { data }) => sum + hexToBigInt(data), 0n);
}

/**
 * Accounts for the contract's tokens to the atom: its merchants' balances, the booked fees, and
 * tokens sent by mistake. From the chain alone.
 * @returns the difference, as a sentence; empty if there is none.
 */
export async function checkTokens(chain: Chain): Promise<string[]> {
  const [count = 0n] = await ask(chain, 'merchantCount');
  let owed = 0n;
  for (let merchant = 1; merchant <= Number(count); merchant++) {
    const [, balance = 0n] = await ask(chain, 'merchantAccount', [merchant]);
    owed += balance;
  }
  const fees = encodeFunctionData({ abi: settlementLensAbi, functionName: 'bookedFees' });
  const lens = lensOf(chain.config.settlement);
  const [acquirer = 0n, protocol = 0n] = await readWords(chain, lens, fees);
  const surplus = await readSurplus(chain);
  const balanceOf = { abi: testUsdcAbi, functionName: 'balanceOf' } as const;
  const data = encodeFunctionData({ ...balanceOf, args: [chain.config.settlement] });
  const [held = 0n] = await readWords(chain, chain.config.usdc, data);
  const explained = owed + acquirer + protocol + surplus;
  if (held === explained) return [];
  return [`the contract holds ${held} USDC atoms, and ${explained} are explained`];
}
