import { AUTHORIZATION_FIELDS } from '#core/typed-data-fields.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { merchantReference } from '#settlement/contract/contract-calls.ts';
import { type Contracts, contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

// The messages that wallets sign (EIP-712), in the form that viem's signTypedData and browser
// wallets accept. contracts/README.md specifies their fields.

type ForContract = Pick<NetworkConfig, 'chainId' | 'settlement'>;

/**
 * Builds the message that a merchant's settlement wallet signs to agree to receive the account's
 * money.
 */
export function merchantConsent(
  config: ForContract,
  consent: { readonly accountId: string; readonly wallet: Hex; readonly deadline: bigint },
) {
  const { accountId, wallet, deadline } = consent;
  return {
    domain: settlementDomain(config),
    types: {
      MerchantConsent: [
        { name: 'reference', type: 'bytes32' },
        { name: 'wallet', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'MerchantConsent',
    message: { reference: merchantReference(accountId), wallet, deadline },
  } as const;
}

/**
 * Builds the message that a new settlement wallet signs to agree to receive a merchant's money;
 * `nonce` is from readPayerAccount.
 */
export function walletConsent(
  config: Pick<NetworkConfig, 'chainId'> & Contracts,
  consent: {
    readonly merchantNumber: bigint;
    readonly wallet: Hex;
    readonly nonce: bigint;
    readonly deadline: bigint;
  },
) {
  const { merchantNumber, wallet, nonce, deadline } = consent;
  const { chainId } = config;
  return {
    domain: settlementDomain({ chainId, settlement: contractOf(config, merchantNumber) }),
    types: {
      WalletConsent: [
        { name: 'merchant', type: 'uint32' },
        { name: 'wallet', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'WalletConsent',
    message: { merchant: numberOnContract(merchantNumber), wallet, nonce, deadline },
  } as const;
}

/**
 * Builds the message that an owner signs to send USDC; any account may submit it to the token
 * (EIP-3009).
 */
export function usdcTransfer(
  config: NetworkConfig,
  transfer: {
    readonly from: Hex;
    readonly to: Hex;
    readonly value: bigint;
    readonly validBefore: bigint;
    readonly nonce: Hex;
  },
) {
  return {
    domain: { ...config.usdcDomain, chainId: config.chainId, verifyingContract: config.usdc },
    types: { TransferWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: { ...transfer, validAfter: 0n },
  } as const;
}

export interface PolicyTerms {
  readonly perPayment: bigint;
  readonly perPeriod: bigint;
  readonly periodSeconds: number;
  readonly expiresAt: Date;
  /** The maximum sum of acquirer and protocol fee, in basis points. */
  readonly maxFeeRate: number;
}

/** Builds a payer's standing spending policy; `nonce` is from readPayerAccount. */
export function spendingPolicy(
  config: NetworkConfig,
  policy: PolicyTerms & { readonly payer: Hex; readonly nonce: bigint; readonly deadline: bigint },
) {
  return {
    domain: settlementDomain(config),
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
      payer: policy.payer,
      perPayment: Number(policy.perPayment),
      perPeriod: Number(policy.perPeriod),
      periodSeconds: policy.periodSeconds,
      expiresAt: Math.floor(policy.expiresAt.getTime() / 1000),
      maxFeeRate: policy.maxFeeRate,
      nonce: policy.nonce,
      deadline: policy.deadline,
    },
  } as const;
}

/** Builds an EIP-2612 permit for the settlement contract; `nonce` is from readPermitNonce. */
export function usdcPermit(
  config: NetworkConfig,
  permit: {
    readonly payer: Hex;
    readonly value: bigint;
    readonly nonce: bigint;
    readonly deadline: bigint;
  },
) {
  const { payer: owner, value, nonce, deadline } = permit;
  return {
    domain: {
      ...config.usdcDomain,
      chainId: config.chainId,
      verifyingContract: config.usdc,
    },
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
    message: { owner, spender: config.settlement, value, nonce, deadline },
  } as const;
}

function settlementDomain(config: ForContract) {
  return {
    name: 'Tapline Settlement',
    version: '2',
    chainId: config.chainId,
    verifyingContract: config.settlement,
  } as const;
}

/**
 * Builds an EIP-3009 authorization for one payment, which only that settlement contract can use.
 */
export function receiveAuthorization(
  config: Pick<NetworkConfig, 'chainId' | 'usdc' | 'usdcDomain'>,
  authorization: {
    readonly from: Hex;
    readonly to: Hex;
    readonly value: bigint;
    /** Default: valid immediately. */
    readonly validAfter?: bigint;
    readonly validBefore: bigint;
    readonly nonce: Hex;
  },
) {
  const { from, to, value, validAfter = 0n, validBefore, nonce } = authorization;
  return {
    domain: {
      ...config.usdcDomain,
      chainId: config.chainId,
      verifyingContract: config.usdc,
    },
    types: { ReceiveWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: { from, to, value, validAfter, validBefore, nonce },
  } as const;
}
