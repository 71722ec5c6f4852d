import {
  concat,
  decodeErrorResult,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseSignature,
  size,
  slice,
  toHex,
} from 'viem';
import type {
  FailureReason,
  Hex,
  PaymentAuthorization,
  RequestPayloads,
} from '#settlement/chain-requests.ts';
import { numberOnContract } from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';
import { orderIdToBytes8, packPayment } from '../../../contracts/payment-tree.ts';

// A payment as the contract packs it. This file encodes all calls to the contracts, and
// contract-events.ts decodes their events. Merchant numbers here are the service's
// (contract-versions.ts); the encoded calls contain the contract's own numbers.

export interface PaymentCall {
  readonly number: bigint;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
}

/** Packs the payment into the contract's 45 bytes, which its Merkle leaf hashes. */
export function pack(payment: PaymentCall): Hex {
  return packPayment({ ...payment, merchant: numberOnContract(payment.merchantNumber) });
}

/**
 * A single payment uses its own function, which costs 1,600 gas less.
 * @param validUntil Unix seconds: in a later block the whole call reverts.
 */
export function settleCall(payments: readonly PaymentCall[], validUntil: number): Hex {
  const args = [concat(payments.map(pack)), validUntil] as const;
  const functionName = payments.length === 1 ? 'settlePaymentSeparately' : 'settleBatch';
  return encodeFunctionData({ abi: settlementAbi, functionName, args });
}

const AUTHORIZATION_TYPE = keccak256(
  toHex(
    'PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,' +
      'bytes8 orderId,bytes32 salt)',
  ),
);

/** Replaces the order in a nonce that does not commit to an order. */
const NO_ORDER: Hex = `0x${'0'.repeat(16)}`;

/** The inputs of an authorization's nonce, in addition to the payment. */
export interface NonceTerms {
  readonly salt: Hex;
  readonly bindsOrder?: boolean;
}

/**
 * Computes the contract's `authorizationNonce`, which a payer signs for exactly this payment.
 * Without the order, it commits to merchant, sum and salt; each salt is used for one payment only.
 */
export function authorizationNonce(
  payment: Omit<PaymentCall, 'payer'>,
  { salt, bindsOrder = true }: NonceTerms,
): Hex {
  const { amount } = payment;
  const merchant = BigInt(numberOnContract(payment.merchantNumber));
  const number = bindsOrder ? payment.number : 0n;
  const order = bindsOrder ? orderIdToBytes8(payment.orderId) : NO_ORDER;
  const types = ['bytes32', 'uint32', 'uint64', 'uint64', 'bytes8', 'bytes32'] as const;
  return keccak256(
    encodeAbiParameters(
      types.map((type) => ({ type })),
      [AUTHORIZATION_TYPE, merchant, amount, number, order, salt],
    ),
  );
}

/** Returns the time range in which the token accepts an authorization, in Unix seconds. */
export function validityOf({
  validAfter = '0',
  validBefore,
}: Pick<PaymentAuthorization, 'validAfter' | 'validBefore'>): readonly [bigint, bigint] {
  return [BigInt(validAfter), BigInt(validBefore)];
}

/**
 * Unless the order is hidden, the nonce commits to it, so that the signature is valid for no other
 * sale.
 */
export function settleWithAuthorizationCall(
  payment: PaymentCall,
  authorization: PaymentAuthorization,
  validUntil: number,
): Hex {
  const { salt, signature, bindsOrder = true } = authorization;
  const [validAfter, validBefore] = validityOf(authorization);
  const signed = { bindsOrder, salt, validAfter, validBefore, signature };
  const args = [pack(payment), signed, validUntil] as const;
  return encodeFunctionData({
    abi: settlementAbi,
    functionName: 'settleWithAuthorization',
    args,
  });
}

export function preflightCall(payments: readonly PaymentCall[]): Hex {
  const args = [concat(payments.map(pack))] as const;
  return encodeFunctionData({ abi: settlementLensAbi, functionName: 'preflight', args });
}

export function refundCall(refund: {
  readonly payment: PaymentCall;
  readonly nodeIndex: bigint;
  readonly proof: readonly Hex[];
  readonly amount: bigint;
  /** The sum that was refunded before this refund; the contract rejects a wrong sum. */
  readonly refundedBefore: bigint;
  /** 16 bytes that identify the refund in the contract's event. */
  readonly reference: Hex;
}): Hex {
  const { payment, nodeIndex, proof, amount, refundedBefore, reference } = refund;
  const packed = pack(payment);
  const args = [nodeIndex, packed, proof, amount, refundedBefore, reference] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName: 'refund', args });
}

export const BATCH_COUNT_CALL = encodeFunctionData({
  abi: settlementLensAbi,
  functionName: 'batchCount',
});

export function refundsOfCall(number: bigint): Hex {
  return encodeFunctionData({ abi: settlementAbi, functionName: 'refundsOf', args: [number] });
}

export function withdrawCall(withdrawal: {
  readonly merchantNumber: bigint;
  /** The wallet to pay; it must be the registered one. */
  readonly wallet: Hex;
  readonly amount: bigint;
  readonly number: bigint;
}): Hex {
  const { merchantNumber, wallet, amount, number } = withdrawal;
  const args = [numberOnContract(merchantNumber), wallet, amount, number] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName: 'withdraw', args });
}

export function isSettledCall(number: bigint): Hex {
  return encodeFunctionData({ abi: settlementAbi, functionName: 'isSettled', args: [number] });
}

/** Returns the identifier under which the contract stores an account. */
export function merchantReference(accountId: string): Hex {
  return keccak256(toHex(accountId));
}

export function registerMerchantCall(payload: RequestPayloads['merchant_registration']): Hex {
  const { accountId, wallet, deadline, signature } = payload;
  const args = [merchantReference(accountId), wallet, BigInt(deadline), signature] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName: 'registerMerchant', args });
}

/** Encodes the proposal, cancellation or application of a merchant's new wallet. */
export function walletChangeCall(payload: RequestPayloads['wallet_change']): Hex {
  const merchant = numberOnContract(BigInt(payload.merchantNumber));
  if (payload.step === 'propose') {
    const { wallet, deadline, signature } = payload;
    const args = [merchant, wallet, BigInt(deadline), signature] as const;
    return encodeFunctionData({ abi: settlementAbi, functionName: 'proposeWallet', args });
  }
  const functionName = payload.step === 'cancel' ? 'cancelWallet' : 'applyWallet';
  return encodeFunctionData({ abi: settlementAbi, functionName, args: [merchant] });
}

type Policy = NonNullable<RequestPayloads['enrolment']['policy']>;
type Permit = NonNullable<RequestPayloads['enrolment']['permit']>;

function policyArgument(policy: Policy) {
  return {
    perPayment: Number(policy.perPaymentCap),
    perPeriod: Number(policy.periodCap),
    periodSeconds: Number(policy.periodSeconds),
    expiresAt: Number(policy.expiry),
    maxFeeRate: Number(policy.maxFeeRate),
  };
}

export function policyCall(payer: Hex, policy: Policy): Hex {
  const { deadline, signature } = policy;
  const args = [payer, policyArgument(policy), BigInt(deadline), signature] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName: 'setPolicyBySignature', args });
}

export function enrolCall(payer: Hex, policy: Policy, permit: Permit): Hex {
  const value = BigInt(permit.value);
  const signed = { value, deadline: BigInt(permit.deadline), signature: permit.signature };
  const { deadline, signature } = policy;
  const args = [payer, policyArgument(policy), BigInt(deadline), signature, signed] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName: 'enrol', args });
}

/** Encodes a permit, to be sent to the token. */
export function permitCall(payer: Hex, spender: Hex, permit: Permit): Hex {
  const { value, deadline, signature } = permit;
  const args = [payer, spender, BigInt(value), BigInt(deadline), signature] as const;
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'permit', args });
}

/** Encodes what a payer signed: a policy, a permit or both. A permit alone is sent to the token. */
export function enrolmentCall(
  { payer, policy, permit }: RequestPayloads['enrolment'],
  { settlement, usdc }: { readonly settlement: Hex; readonly usdc: Hex },
): { readonly to: Hex; readonly data: Hex } {
  if (policy !== null) {
    const data = permit === null ? policyCall(payer, policy) : enrolCall(payer, policy, permit);
    return { to: settlement, data };
  }
  if (permit === null) throw new TypeError('neither a permit nor a policy');
  return { to: usdc, data: permitCall(payer, settlement, permit) };
}

/** Values of v in signatures by keys; only contract wallets use other values. */
const KEY_V = [0, 1, 27, 28];

/** True if the signature has the form of a key's signature: r, s and v. */
export function isKeySignature(signature: Hex): boolean {
  return size(signature) === 65 && KEY_V.includes(Number(slice(signature, 64)));
}

const BYTES_TRANSFER = parseAbi([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
]);

/**
 * Encodes an EIP-3009 transfer, which any account may submit. A key's signature is passed as v, r
 * and s, which every version of the token accepts; a contract wallet's signature is passed as bytes
 * (USDC from version 2.2 on).
 */
export function transferCall(signed: {
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: string;
  readonly validBefore: string;
  readonly nonce: Hex;
  readonly signature: Hex;
}): Hex {
  const { from, to, amount, validBefore, nonce, signature } = signed;
  const moved = [from, to, BigInt(amount), 0n, BigInt(validBefore), nonce] as const;
  if (!isKeySignature(signature)) {
    const functionName = 'transferWithAuthorization';
    return encodeFunctionData({ abi: BYTES_TRANSFER, functionName, args: [...moved, signature] });
  }
  const { r, s, yParity } = parseSignature(signature);
  const args = [...moved, 27 + yParity, r, s] as const;
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'transferWithAuthorization', args });
}

/** Encodes a mint, to be sent to a test network's token. */
export function mintCall(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [to, amount] });
}

/** Returns the name of the contract's error in revert data; empty if there is none. */
function errorName(data: unknown): string {
  if (typeof data !== 'string' || !data.startsWith('0x') || data.length < 10) return '';
  try {
    return decodeErrorResult({ abi: settlementAbi, data: data as Hex }).errorName;
  } catch {
    return '';
  }
}

/** Errors that mean that an earlier transaction has already made this change. */
const DONE_BEFORE = new Set(['WithdrawalAlreadyPaid', 'MerchantAlreadyRegistered']);

/** Error of a refund whose proof ends at a node that the contract has since replaced. */
export const PAYMENT_NOT_PROVED = 'PaymentNotProved';

/**
 * Errors of calls that may succeed when they are sent again: later batches have overwritten the
 * node at which a proof ends; a reorganization has moved the payment to another batch, or removed
 * it for now; another refund of the payment was mined first, so this one named the wrong sum; the
 * chain's time has jumped past the settlement deadline; or the guardian has paused settling, and a
 * payment that was requested earlier waits until its deadline.
 */
const PASSING = new Set([
  PAYMENT_NOT_PROVED,
  'RefundOutOfOrder',
  'PaymentsTooLate',
  'SettlingIsPaused',
]);

/** Errors that block a payout until the contract's guardian or the token allows it again. */
const BLOCKING = new Set(['RefundingIsPaused', 'SafeERC20FailedOperation', 'Error', '']);

/** Error of a refund that would exceed the contract's hourly ceiling, so the refund waits. */
const HOUR_FULL = 'OutflowCeilingReached';
const HOUR_FULL_WORDS = "The contract's hourly limit is used up, or this transfer would exceed it.";

/**
 * Error of a payout while a new wallet is proposed; the payout waits until the proposal is applied
 * or canceled.
 */
const WALLET_PENDING = 'WalletChangePending';
const WALLET_PENDING_WORDS = 'Another settlement wallet was announced';

/** Returns the text that explains a temporary refusal to users. */
function wordsOf(data: unknown): string {
  const name = errorName(data);
  if (name !== 'Error') return name === '' ? 'USDC refuses the transfer' : name;
  const { args } = decodeErrorResult({ data: data as Hex });
  return String(args?.[0] ?? '');
}

export type Revert =
  | { readonly kind: 'done_before' }
  /** The call must be rebuilt and sent again. */
  | { readonly kind: 'passing'; readonly error: string }
  /** The refund waits for the next hour, or for a higher ceiling. */
  | {
      readonly kind: 'hour_full';
      readonly reason: FailureReason;
      readonly error: string;
      readonly words: string;
    }
  /** The withdrawal waits until a proposed wallet is applied or canceled. */
  | {
      readonly kind: 'wallet_pending';
      readonly reason: FailureReason;
      readonly error: string;
      readonly words: string;
    }
  /**
   * The payout waits, because the token (paused, or an address is blocked) or the guardian refuses
   * it.
   */
  | {
      readonly kind: 'blocked';
      readonly reason: FailureReason;
      readonly error: string;
      readonly words: string;
    }
  | { readonly kind: 'refused'; readonly reason: FailureReason; readonly error: string };

/** Interprets the revert of a transaction that carries a single job. */
export function readRevert(data: unknown): Revert {
  const error = errorName(data);
  if (DONE_BEFORE.has(error)) return { kind: 'done_before' };
  if (PASSING.has(error)) return { kind: 'passing', error };
  const reason = 'transaction_reverted';
  if (error === HOUR_FULL) return { kind: 'hour_full', reason, error, words: HOUR_FULL_WORDS };
  if (error === WALLET_PENDING) {
    const words = WALLET_PENDING_WORDS;
    return { kind: 'wallet_pending', reason: 'wallet_changed', error, words };
  }
  if (BLOCKING.has(error)) return { kind: 'blocked', reason, error, words: wordsOf(data) };
  return { kind: 'refused', reason: REASONS[error] ?? reason, error };
}

/** Errors that have a failure reason which is explained to users. */
const REASONS: { readonly [error: string]: FailureReason } = {
  InsufficientMerchantBalance: 'insufficient_balance',
  NotMerchantWallet: 'wallet_changed',
  NoWalletProposed: 'wallet_not_announced',
};

/** The contract's Reason, by value (contracts/PaymentTypes.sol). */
const PAYMENT_REASONS = [
  'None',
  'AlreadySettled',
  'AmountInvalid',
  'OrderIdInvalid',
  'MerchantUnknown',
  'PolicyMissing',
  'PolicyRevoked',
  'PolicyExpired',
  'FeesAbovePolicy',
  'PaymentCapExceeded',
  'PeriodCapExceeded',
  'InsufficientFunds',
  'InsufficientAllowance',
  'AuthorizationRefused',
  'TransferRefused',
  'CeilingReached',
] as const;

export type PaymentReason = (typeof PAYMENT_REASONS)[number];

const DECLINES: Partial<Record<PaymentReason, FailureReason>> = {
  PolicyMissing: 'approval_insufficient',
  PolicyRevoked: 'approval_insufficient',
  PolicyExpired: 'approval_insufficient',
  FeesAbovePolicy: 'approval_insufficient',
  InsufficientAllowance: 'approval_insufficient',
  InsufficientFunds: 'insufficient_funds',
  PaymentCapExceeded: 'limit_exceeded',
  PeriodCapExceeded: 'limit_exceeded',
  AuthorizationRefused: 'authorization_refused',
};

/** An unknown value, from a later contract version, becomes `TransferRefused`. */
export function paymentReason(value: number): PaymentReason {
  return PAYMENT_REASONS[value] ?? 'TransferRefused';
}

/**
 * Returns the decline code of behavior.md 5.8; `settlement_failed` for a reason without its own
 * code.
 */
export function declineOf(reason: PaymentReason): FailureReason {
  return DECLINES[reason] ?? 'settlement_failed';
}
