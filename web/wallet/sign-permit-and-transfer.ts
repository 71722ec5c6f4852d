import { AUTHORIZATION_FIELDS } from '#core/typed-data-fields.ts';
import type { Hex } from '../data/bytes.ts';
import type { Account } from './private-key-account.ts';

/**
 * Everything that the wallet signs (EIP-712; the type strings are the contract's, see
 * contracts/README.md). Messages are built from what the user has read and accepted, never from the
 * service's response, so a compromised service cannot obtain any other signature.
 */

export interface ChainFacts {
  readonly chainId: number;
  readonly usdc: Hex;
  readonly usdcDomain: { readonly name: string; readonly version: string };
  readonly settlement: Hex;
  /** A public node of the chain, or `null` if the operator names none. */
  readonly rpcUrl: string | null;
  /** The payer's fees in basis points. Left out if unknown. */
  readonly feeRate?: number | undefined;
}

export function factsOf(network: {
  readonly chain_id: number;
  readonly usdc: string;
  readonly usdc_domain: ChainFacts['usdcDomain'];
  readonly settlement: string;
  readonly rpc_url?: string | null;
  readonly fee_rates?: { readonly acquirer: number; readonly protocol: number };
}): ChainFacts {
  const rates = network.fee_rates;
  return {
    chainId: network.chain_id,
    usdc: network.usdc as Hex,
    usdcDomain: network.usdc_domain,
    settlement: network.settlement as Hex,
    rpcUrl: network.rpc_url ?? null,
    ...(rates === undefined ? {} : { feeRate: rates.acquirer + rates.protocol }),
  };
}

export interface Terms {
  /** Limit of a sale in atoms, excluding fees. */
  readonly perPayment: bigint;
  readonly perPeriod: bigint;
  readonly periodSeconds: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** Acquirer and protocol fee together, in basis points. */
  readonly maxFeeRate: number;
}

/**
 * Validity of a signature: enough for a slow chain, and too short to be useful to someone who finds
 * it later.
 */
const DEADLINE_SECONDS = 900;

/**
 * Returns the deadline in Unix seconds by the service's clock, because the device's clock may be
 * wrong.
 */
export function deadlineAt(nowMs: number): number {
  return Math.floor(nowMs / 1000) + DEADLINE_SECONDS;
}

/** Signs an EIP-2612 permit for the total that the settlement contract may take. */
export async function signPermit(
  account: Account,
  {
    chain,
    value,
    nonce,
    deadline,
  }: {
    readonly chain: ChainFacts;
    readonly value: bigint;
    readonly nonce: number;
    readonly deadline: number;
  },
) {
  const signature = await account.signTypedData({
    domain: { ...chain.usdcDomain, chainId: chain.chainId, verifyingContract: chain.usdc },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: {
      owner: account.address,
      spender: chain.settlement,
      value,
      nonce: BigInt(nonce),
      deadline: BigInt(deadline),
    },
  });
  return { value: Number(value), deadline, signature };
}

/**
 * Signs a USDC transfer (EIP-3009), which the service submits to the token. The token executes it
 * once, however often it is submitted.
 */
export async function signTransfer(
  account: Account,
  transfer: {
    readonly chain: ChainFacts;
    readonly to: Hex;
    readonly amount: bigint;
    readonly validBefore: number;
    /** 32 random bytes. */
    readonly nonce: Hex;
  },
) {
  const { chain, to, amount, validBefore, nonce } = transfer;
  const signature = await account.signTypedData({
    domain: { ...chain.usdcDomain, chainId: chain.chainId, verifyingContract: chain.usdc },
    types: { TransferWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to,
      value: amount,
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
  });
  return { to, amount: Number(amount), valid_before: validBefore, nonce, signature };
}

/** Signs a spending policy, within which passes pay without a signature per payment. */
export async function signPolicy(
  account: Account,
  {
    chain,
    terms,
    nonce,
    deadline,
  }: {
    readonly chain: ChainFacts;
    readonly terms: Terms;
    readonly nonce: number;
    readonly deadline: number;
  },
) {
  const signature = await account.signTypedData({
    domain: {
      name: 'Tapline Settlement',
      version: '2',
      chainId: chain.chainId,
      verifyingContract: chain.settlement,
    },
    types: {
      SpendingPolicy: [
        { name: 'payer', type: 'address' },
        { name: 'perPayment', type: 'uint48' },
        { name: 'perPeriod', type: 'uint48' },
        { name: 'periodSeconds', type: 'uint24' },
        { name: 'expiresAt', type: 'uint40' },
        { name: 'maxFeeRate', type: 'uint16' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'SpendingPolicy',
    message: {
      payer: account.address,
      ...terms,
      perPayment: Number(terms.perPayment),
      perPeriod: Number(terms.perPeriod),
      nonce: BigInt(nonce),
      deadline: BigInt(deadline),
    },
  });
  return {
    per_payment: Number(terms.perPayment),
    per_period: Number(terms.perPeriod),
    period_seconds: terms.periodSeconds,
    expires_at: terms.expiresAt,
    max_fee_rate: terms.maxFeeRate,
    deadline,
    signature,
  };
}
