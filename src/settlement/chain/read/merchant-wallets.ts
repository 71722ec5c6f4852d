import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { BlockTag, Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import {
  contractOf,
  contractsOf,
  contractVersionOf,
  merchantNumberOf,
  numberOnContract,
} from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/** A proposed wallet that will replace a merchant's current one. */
export interface AnnouncedWallet {
  readonly wallet: Hex;
  /** From this time on, any account can apply the change. */
  readonly applicableAt: Date;
  readonly proposer: Hex;
}

/** A merchant's wallets according to the contract, as of `blockNumber`. */
export interface WalletOnChain {
  readonly merchantNumber: bigint;
  readonly wallet: Hex;
  readonly announced: AnnouncedWallet | null;
  readonly blockNumber: bigint;
}

/** Merchants per call, within a node's limits. */
const MERCHANTS_PER_CALL = 500;
const MS = 1_000;

export function sameWallet(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

const ACCOUNT = { abi: settlementAbi, functionName: 'merchantAccount' } as const;
const CHANGE = { abi: settlementAbi, functionName: 'walletChange' } as const;
const REGISTERED = { abi: settlementAbi, functionName: 'merchantOf' } as const;
const CHANGES = { abi: settlementLensAbi, functionName: 'walletChanges' } as const;

/** Encodes the call whose answer {@link decodeChange} reads. */
export function changeCall(chain: Chain, merchantNumber: bigint) {
  const args = [numberOnContract(merchantNumber)] as const;
  const to = contractOf(chain.config, merchantNumber);
  return { to, data: encodeFunctionData({ ...CHANGE, args }), words: 3 };
}

export function decodeChange(data: Hex): AnnouncedWallet | null {
  const [wallet, applicableAt, proposer] = decodeFunctionResult({ ...CHANGE, data });
  if (BigInt(wallet) === 0n) return null;
  return { wallet, applicableAt: new Date(applicableAt * MS), proposer };
}

interface MerchantRange {
  readonly settlement: Hex;
  /** Numbers on the contract, both inclusive. */
  readonly first: number;
  readonly last: number;
  /** Default: the newest block. */
  readonly at?: BlockTag;
}

export async function readAnnounced(chain: Chain, { settlement, first, last, at }: MerchantRange) {
  const to = lensOf(settlement);
  const count = Math.ceil((last - first + 1) / MERCHANTS_PER_CALL);
  const pages = Array.from({ length: count }, (_, page) => {
    const from = first + page * MERCHANTS_PER_CALL;
    const args = [from, Math.min(last, from + MERCHANTS_PER_CALL - 1)] as const;
    return { to, data: encodeFunctionData({ ...CHANGES, args }), words: 'any' as const };
  });
  const answers = await chain.calls(pages, at);
  return answers.flatMap((answer) =>
    decodeView(answer, (data) => decodeFunctionResult({ ...CHANGES, data })),
  );
}

/**
 * Reads the current and proposed wallets of one page of merchants at the newest block.
 * @throws RpcUnavailable
 */
export async function readMerchantWallets(
  chain: Chain,
  merchantNumbers: readonly bigint[],
): Promise<WalletOnChain[]> {
  const { number: blockNumber } = await chain.newest();
  const accounts = merchantNumbers.map((merchantNumber) => {
    const args = [numberOnContract(merchantNumber)] as const;
    const to = contractOf(chain.config, merchantNumber);
    return { to, data: encodeFunctionData({ ...ACCOUNT, args }), words: 3 };
  });
  const answers = await chain.calls(accounts, blockNumber);
  const announced = new Map<bigint, AnnouncedWallet>();
  for (const [contractVersion, { settlement }] of contractsOf(chain.config).entries()) {
    const own = merchantNumbers
      .filter((one) => contractVersionOf(one) === contractVersion)
      .map(numberOnContract);
    if (own.length === 0) continue;
    const range = { first: Math.min(...own), last: Math.max(...own), at: blockNumber };
    for (const one of await readAnnounced(chain, { settlement, ...range })) {
      const { merchant, to: wallet, applicableAt, proposer } = one;
      const change = { wallet, applicableAt: new Date(applicableAt * MS), proposer };
      announced.set(merchantNumberOf(contractVersion, merchant), change);
    }
  }
  return merchantNumbers.map((merchantNumber, index) => {
    const [wallet] = decodeView(answers[index], (data) =>
      decodeFunctionResult({ ...ACCOUNT, data }),
    );
    return {
      merchantNumber,
      wallet,
      announced: announced.get(merchantNumber) ?? null,
      blockNumber,
    };
  });
}

/** @throws RpcUnavailable */
export async function isRegisteredAs(
  chain: Chain,
  { merchantNumber, reference }: { readonly merchantNumber: bigint; readonly reference: Hex },
): Promise<boolean> {
  const to = contractOf(chain.config, merchantNumber);
  const data = encodeFunctionData({ ...REGISTERED, args: [reference] });
  const [answer] = await chain.calls([{ to, data, words: 1 }]);
  const wallets = decodeView(answer, (word) => decodeFunctionResult({ ...REGISTERED, data: word }));
  return wallets === numberOnContract(merchantNumber);
}
