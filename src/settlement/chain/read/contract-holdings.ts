import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/** The token balance and the debts of a settlement contract at one block, in atoms. */
export interface Holdings {
  readonly blockNumber: bigint;
  readonly asOf: Date;
  readonly merchants: number;
  readonly held: bigint;
  readonly owed: bigint;
  /** Fees that are booked but not collected yet. */
  readonly fees: bigint;
}

/** Merchants per call: each costs about 3,000 gas, and nodes allow tens of millions per call. */
const PAGE = 1_000;

const COUNT = { abi: settlementAbi, functionName: 'merchantCount' } as const;
const SUMS = { abi: settlementLensAbi, functionName: 'holdings' } as const;

export interface HoldingsOptions {
  /** The contract to read; by default, the network's current one. */
  readonly settlement?: Hex;
  readonly pageSize?: number;
}

/**
 * Reads the sums over all merchants from the contract, independently of the database.
 * @throws RpcUnavailable
 */
export async function readHoldings(
  chain: Chain,
  { settlement = chain.config.settlement, pageSize = PAGE }: HoldingsOptions = {},
): Promise<Holdings> {
  const { number, time } = await chain.newest();
  const count = { to: settlement, data: encodeFunctionData(COUNT), words: 1 };
  const [counted] = await chain.calls([count], number);
  const merchants = decodeView(counted, (data) => decodeFunctionResult({ ...COUNT, data }));
  const pages = Array.from({ length: Math.max(1, Math.ceil(merchants / pageSize)) }, (_, page) => {
    const args = [page * pageSize + 1, Math.min(merchants, (page + 1) * pageSize)] as const;
    return { to: lensOf(settlement), data: encodeFunctionData({ ...SUMS, args }), words: 3 };
  });
  const answers = await chain.calls(pages, number);
  const sums = answers.map((answer) =>
    decodeView(answer, (data) => decodeFunctionResult({ ...SUMS, data })),
  );
  const [held, , fees] = present(sums[0], 'holdings');
  const owed = sums.reduce((sum, [, page]) => sum + page, 0n);
  return { blockNumber: number, asOf: time, merchants, held, owed, fees };
}
