import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Atoms, atoms } from '#core/money.ts';
import type { Block, CallAnswer, Chain } from '#settlement/chain/chain.ts';
import {
  type AnnouncedWallet,
  changeCall,
  decodeChange,
} from '#settlement/chain/read/merchant-wallets.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

export interface MerchantBalance {
  readonly available: Atoms;
  /** The registered settlement wallet. */
  readonly wallet: Hex;
  /** Nothing can be withdrawn before this time; `null` if withdrawals are possible now. */
  readonly heldUntil: Date | null;
  readonly blockNumber: bigint;
  /** The time of the block at which the balance was read. */
  readonly asOf: Date;
}

/**
 * Reads a merchant's balance on its settlement contract, at the newest block.
 * @throws RpcUnavailable
 */
export async function readMerchantBalance(
  chain: Chain,
  merchantNumber: bigint,
): Promise<MerchantBalance> {
  const head = await chain.newest();
  const [answer] = await chain.calls([accountCall(chain, merchantNumber)], head.number);
  return decodeBalance(answer, head);
}

/** Reads the balance and the proposed new wallet at the same block. */
export async function readMerchantAccount(
  chain: Chain,
  merchantNumber: bigint,
): Promise<MerchantBalance & { readonly announced: AnnouncedWallet | null }> {
  const head = await chain.newest();
  const calls = [accountCall(chain, merchantNumber), changeCall(chain, merchantNumber)];
  const [account, change] = await chain.calls(calls, head.number);
  return { ...decodeBalance(account, head), announced: decodeView(change, decodeChange) };
}

const ACCOUNT = { abi: settlementAbi, functionName: 'merchantAccount' } as const;

function accountCall(chain: Chain, merchantNumber: bigint) {
  const args = [numberOnContract(merchantNumber)] as const;
  const data = encodeFunctionData({ ...ACCOUNT, args });
  return { to: contractOf(chain.config, merchantNumber), data, words: 3 };
}

function decodeBalance(answer: CallAnswer | undefined, head: Block): MerchantBalance {
  const [wallet, available, held] = decodeView(answer, (data) =>
    decodeFunctionResult({ ...ACCOUNT, data }),
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
