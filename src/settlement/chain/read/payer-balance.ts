import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/** A payer's account on the contract, and the wallet's funds. Amounts in atoms. */
export interface PayerAccount {
  readonly balance: bigint;
  /** Maximum amount that the settlement contract may take from the wallet. */
  readonly allowance: bigint;
  /** The contract's nonce for this payer, which the next policy or revocation signs. */
  readonly nonce: bigint;
  readonly policy: SpendingPolicy;
}

type SpendingPolicy =
  | { readonly status: 'none' }
  | { readonly status: 'revoked' }
  | {
      readonly status: 'set';
      readonly perPayment: bigint;
      readonly perPeriod: bigint;
      readonly periodSeconds: number;
      /** Atoms spent on sales in the current period, excluding fees. */
      readonly spent: bigint;
      readonly expiresAt: Date;
      /** Basis points: the maximum sum of fees that the payer accepts. */
      readonly maxFeeRate: number;
    };

/** The number of words of the contract's `PayerAccount`. */
export const PAYER_ACCOUNT_WORDS = 9;

/** `expiresAt` of a policy that was never set or was revoked (contracts/README.md). */
const NEVER_SET = 0;
const REVOKED = 1;

/**
 * Reads a payer's account; by default, on the network's current contract.
 * @throws RpcUnavailable
 */
export async function readPayerAccount(
  chain: Chain,
  payer: Hex,
  settlement: Hex = chain.config.settlement,
): Promise<PayerAccount> {
  const data = payerAccountsCall([payer]);
  const words = 2 + PAYER_ACCOUNT_WORDS;
  const [answer] = await chain.calls([{ to: lensOf(settlement), data, words }]);
  return present(decodeView(answer, readPayerAccounts)[0], 'payer account');
}

/**
 * Reads the token's nonce for the next EIP-2612 permit; `null` if the token has no permit.
 * @throws RpcUnavailable
 */
export async function readPermitNonce(chain: Chain, payer: Hex): Promise<bigint | null> {
  if (!chain.config.token.hasPermit) return null;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'nonces', args: [payer] });
  const [answer] = await chain.calls([{ to: chain.config.usdc, data, words: 1 }]);
  return decodeView(answer, BigInt);
}

/**
 * True if the EIP-3009 authorization was used or canceled as of the given block.
 * @throws RpcUnavailable
 */
export async function isAuthorizationUsed(
  chain: Chain,
  { from, nonce }: { readonly from: Hex; readonly nonce: Hex },
  at?: bigint,
): Promise<boolean> {
  const args = [from, nonce] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'authorizationState', args });
  const [answer] = await chain.calls([{ to: chain.config.usdc, data, words: 1 }], at);
  return decodeView(answer, BigInt) !== 0n;
}

export function payerAccountsCall(payers: readonly Hex[]): Hex {
  const args = [payers] as const;
  return encodeFunctionData({ abi: settlementLensAbi, functionName: 'payerAccounts', args });
}

export function readPayerAccounts(data: Hex): PayerAccount[] {
  const accounts = decodeFunctionResult({
    abi: settlementLensAbi,
    functionName: 'payerAccounts',
    data,
  });
  return accounts.map((account) => ({
    balance: account.balance,
    allowance: account.allowance,
    nonce: account.nonce,
    policy: toPolicy(account),
  }));
}

function toPolicy(account: {
  readonly perPayment: number;
  readonly perPeriod: number;
  readonly spent: number;
  readonly periodSeconds: number;
  readonly expiresAt: number;
  readonly maxFeeRate: number;
}): SpendingPolicy {
  if (account.expiresAt === NEVER_SET) return { status: 'none' };
  if (account.expiresAt === REVOKED) return { status: 'revoked' };
  return {
    status: 'set',
    perPayment: BigInt(account.perPayment),
    perPeriod: BigInt(account.perPeriod),
    periodSeconds: account.periodSeconds,
    spent: BigInt(account.spent),
    expiresAt: new Date(account.expiresAt * 1000),
    maxFeeRate: account.maxFeeRate,
  };
}
