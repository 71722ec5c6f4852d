import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import { type Chain, decodeView } from '#settlement/chain/chain.ts';
import { contractOf, numberOnContract } from '#settlement/editions.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

export interface MerchantBalance {
  readonly available: Atoms;
  /** The registered settlement wallet. */
  readonly wallet: Hex;
  /** Nothing can be withdrawn before this; null: it can now. */
  readonly heldUntil: Date | null;
  readonly blockNumber: bigint;
  /** The time of the block that it was read at. */
  readonly asOf: Date;
}

/** A merchant's balance in its settlement contract at the newest block. @throws RpcUnavailable */
export async function readMerchantBalance(
  chain: Chain,
  merchantNumber: bigint,
): Promise<MerchantBalance> {
  const block = await chain.block('latest');
  const head = present(block, 'newest block');
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'merchantAccount',
    args: [numberOnContract(merchantNumber)],
  });
  const call = { to: contractOf(chain.config, merchantNumber), data, words: 3 };
  const [answer] = await chain.calls([call], head.number);
  const [wallet, available, held] = decodeView(answer, (returned) =>
    decodeFunctionResult({
      abi: settlementAbi,
      functionName: 'merchantAccount',
      data: returned,
    }),
  );
  const until = new Date(held * 1000);
  return {
    available: atoms(available),
    wallet,
    heldUntil: until > head.time ? until : null,
    blockNumber: head.number,
    asOf: head.time,
  };
}
