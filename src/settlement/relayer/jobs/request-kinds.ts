import { zeroAddress } from 'viem';
import { present } from '#core/assert.ts';
import type { ConfiguredSender } from '#settlement/chain/fees/configure-senders.ts';
import type {
  ChainPlace,
  Failure,
  FailureReason,
  Hex,
  OutcomeFacts,
  PaymentAuthorization,
  RequestKind,
  RequestPayloads,
} from '#settlement/chain-requests.ts';
import {
  enrolmentCall,
  merchantReference,
  mintCall,
  type PaymentCall,
  type Revert,
  refundCall,
  registerMerchantCall,
  settleCall,
  settleWithAuthorizationCall,
  transferCall,
  walletChangeCall,
  withdrawCall,
} from '#settlement/contract/contract-calls.ts';
import type { SettlementEvent } from '#settlement/contract/contract-events.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig, SenderRole } from '#settlement/network-config.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import type { RefundProof } from '#settlement/settled/payment-proof.ts';

export interface TargetCall {
  readonly to: Hex;
  readonly data: Hex;
}

export function payloadOf<K extends RequestKind>(
  request: OpenRequest,
  kind: K,
): RequestPayloads[K] {
  if (request.kind !== kind) throw new TypeError(`a ${request.kind} is not a ${kind}`);
  return request.payload as RequestPayloads[K];
}

export function numberOf(request: OpenRequest): bigint {
  return present(request.number, 'number of a request');
}

export function paymentOf(request: OpenRequest): PaymentCall {
  const payload = payloadOf(request, 'payment');
  return {
    number: numberOf(request),
    payer: payload.payer,
    merchantNumber: BigInt(payload.merchantNumber),
    amount: BigInt(payload.amount),
    orderId: payload.orderId,
  };
}

function withdrawalOf(request: OpenRequest) {
  const { merchantNumber, wallet, amount } = payloadOf(request, 'withdrawal');
  return {
    number: numberOf(request),
    merchantNumber: BigInt(merchantNumber),
    wallet,
    amount: BigInt(amount),
  };
}

/** Returns what the payer signed for this payment; `null` if it is paid under a policy. */
export function authorizationOf(request: OpenRequest): PaymentAuthorization | null {
  return payloadOf(request, 'payment').authorization ?? null;
}

export function refundTarget(
  request: OpenRequest,
  proven: RefundProof & { readonly refundedBefore: bigint },
  config: NetworkConfig,
): TargetCall {
  const { amount, reference } = payloadOf(request, 'refund');
  const data = refundCall({ ...proven, amount: BigInt(amount), reference });
  return { to: contractOf(config, proven.payment.merchantNumber), data };
}

/** A job fails after this many transactions that gave it no result. No money has moved. */
export const MAX_TRIES = 3;

interface KindRecord {
  readonly sender: SenderRole;
  /** Returns the contract to call: the merchant's, or the current one. */
  readonly contract: (request: AnyRequest, config: NetworkConfig) => Hex;
  /** `plan-batches.ts` adds the deadline, and `prepare-refund.ts` the proof. */
  readonly data: (request: OpenRequest, config: NetworkConfig) => Hex;
  /**
   * Returns those fields of the job's success event on which money depends. `null` if the kind has
   * no event, so that the receipt's status decides.
   */
  readonly event: ((request: OpenRequest) => ExpectedEvent) | null;
  /**
   * True if one call carries many jobs and skips those that fail. Its events then name the jobs'
   * numbers.
   */
  readonly batched: boolean;
  /**
   * The reaction if a reorganization undoes a booked job and the chain then refuses it. A refund or
   * withdrawal may be refused only because the order of transactions has changed: the batch in its
   * proof now has another number, or the balance is credited later. For a payment, operators are
   * alerted, because the payer's money may be gone.
   */
  readonly whenUndone: 'send_again' | 'send_again_and_alert' | 'alert';
  /** True if the job waits, instead of failing, while the token or its own proof prevents it. */
  readonly waits: boolean;
  /** True if any account that has seen the call can send it. A revert then decides nothing. */
  readonly anybodySends: boolean;
  /**
   * True if the job fails at the first revert, because it calls a foreign contract, which could
   * revert forever at the operator's cost.
   */
  readonly triedOnce: boolean;
  /**
   * True if a payer's wallet takes part. It may accept in a simulation what it refuses in a block,
   * so a revert is final even if the simulation then accepts the call.
   */
  readonly walletMayLie: boolean;
  /** The only reason for which the job can fail; `null` if the contract names the reason. */
  readonly failsFor: FailureReason | null;
}

type AnyRequest = Pick<OpenRequest, 'kind' | 'payload'>;

type Event<Name> = Extract<SettlementEvent, { readonly event: Name }>;
type ExpectedEvent =
  | Pick<Event<'PaymentSettled'>, 'event' | keyof PaymentCall>
  | Pick<Event<'PaymentRefunded'>, 'event' | 'reference' | 'amount' | 'number'>
  | Pick<Event<'Withdrawn'>, 'event' | 'number' | 'merchantNumber' | 'wallet' | 'amount'>
  | Pick<Event<'MerchantRegistered'>, 'event' | 'reference' | 'wallet'>;

/** A placeholder for the proof that is read from the chain. */
const ANY_PROOF = {
  payment: { number: 1n, payer: zeroAddress, merchantNumber: 1n, amount: 1n, orderId: 'A' },
  nodeIndex: 0n,
  proof: [],
  refundedBefore: 0n,
} as const;

/** The defaults of most kinds, whose jobs are sent alone and have no event. */
const ALONE = {
  sender: 'operator',
  event: null,
  batched: false,
  whenUndone: 'alert',
  waits: false,
  anybodySends: false,
  triedOnce: false,
  walletMayLie: false,
  failsFor: null,
} as const;

const ofMerchant = ({ payload }: AnyRequest, config: NetworkConfig) =>
  contractOf(config, BigInt((payload as { readonly merchantNumber: string }).merchantNumber));
const newest = (_: AnyRequest, { settlement }: NetworkConfig) => settlement;
const token = (_: AnyRequest, { usdc }: NetworkConfig) => usdc;

export const KINDS: Readonly<Record<RequestKind, KindRecord>> = {
  payment: {
    ...ALONE,
    contract: ofMerchant,
    data: (request) => {
      const authorization = authorizationOf(request);
      return authorization === null
        ? settleCall([paymentOf(request)], 0)
        : settleWithAuthorizationCall(paymentOf(request), authorization, 0);
    },
    event: (request) => ({ event: 'PaymentSettled', ...paymentOf(request) }),
    batched: true,
    whenUndone: 'send_again_and_alert',
    failsFor: 'settlement_failed',
  },
  refund: {
    ...ALONE,
    // A placeholder: the payment's proof determines the contract and the sum refunded before.
    contract: newest,
    data: (request, config) => refundTarget(request, ANY_PROOF, config).data,
    event: (request) => {
      const { paymentNumber, amount, reference } = payloadOf(request, 'refund');
      const number = BigInt(paymentNumber);
      return { event: 'PaymentRefunded', reference, amount: BigInt(amount), number };
    },
    whenUndone: 'send_again',
    waits: true,
  },
  withdrawal: {
    ...ALONE,
    contract: ofMerchant,
    data: (request) => withdrawCall(withdrawalOf(request)),
    event: (request) => ({ event: 'Withdrawn', ...withdrawalOf(request) }),
    whenUndone: 'send_again',
  },
  merchant_registration: {
    ...ALONE,
    sender: 'registrar',
    contract: newest,
    data: (request) => registerMerchantCall(payloadOf(request, 'merchant_registration')),
    event: (request) => {
      const { accountId, wallet } = payloadOf(request, 'merchant_registration');
      return { event: 'MerchantRegistered', reference: merchantReference(accountId), wallet };
    },
  },
  wallet_change: {
    ...ALONE,
    sender: 'registrar',
    contract: ofMerchant,
    data: (request) => walletChangeCall(payloadOf(request, 'wallet_change')),
  },
  enrolment: {
    ...ALONE,
    // A permit without a policy is sent to the token.
    contract: (request, { settlement, usdc }) =>
      (request.payload as RequestPayloads['enrolment']).policy === null ? usdc : settlement,
    data: (request, config) => enrolmentCall(payloadOf(request, 'enrolment'), config).data,
    walletMayLie: true,
  },
  faucet: {
    ...ALONE,
    contract: token,
    data: (request) => {
      const { to, amount } = payloadOf(request, 'faucet');
      return mintCall(to, BigInt(amount));
    },
  },
  transfer: {
    ...ALONE,
    sender: 'sponsor',
    contract: token,
    data: (request) => transferCall(payloadOf(request, 'transfer')),
    anybodySends: true,
  },
  wallet_deployment: {
    ...ALONE,
    // The sponsor sends these jobs: it has no role on the contract, and no sale waits for it.
    sender: 'sponsor',
    contract: ({ payload }) => (payload as RequestPayloads['wallet_deployment']).factory,
    data: (request) => payloadOf(request, 'wallet_deployment').data,
    whenUndone: 'send_again',
    triedOnce: true,
  },
};

export function contractOfRequest(request: AnyRequest, config: NetworkConfig): Hex {
  return KINDS[request.kind].contract(request, config);
}

/**
 * @throws if the job can never become a call, whatever the chain's state: its payload is of another
 * kind, or its numbers or texts are too large for the contract.
 */
export function callOf(request: OpenRequest, config: NetworkConfig): TargetCall {
  const { data } = KINDS[request.kind];
  return { to: contractOfRequest(request, config), data: data(request, config) };
}

const ALL = Object.keys(KINDS) as RequestKind[];

type Keys = Pick<NetworkConfig, 'sponsorKey' | 'relayerKeys'>;

/**
 * True if this process holds one of the keys that sign deployments of payers' wallets. Remote
 * signers do not count: they allow calls to known contracts only, and factories are not among them.
 */
export function deploysWallets({ sponsorKey, relayerKeys }: Keys): boolean {
  const keys = sponsorKey === null ? relayerKeys : [sponsorKey];
  return keys.some((key) => typeof key === 'string');
}

/**
 * Returns the kinds of requests that this sender sends. Without a sponsor key, operators also send
 * the sponsor's kinds. A sender with a remote signer leaves deployments to this process's other
 * senders. If none of them can deploy, it takes them too, and `leaveDeployment` defers or fails
 * them.
 */
export function kindsOf(
  { role, signsElsewhere }: Pick<ConfiguredSender, 'role' | 'signsElsewhere'>,
  config: Keys,
): readonly RequestKind[] {
  const replaced = role === 'operator' && config.sponsorKey === null ? 'sponsor' : role;
  const kinds = ALL.filter((kind) => [role, replaced].includes(KINDS[kind].sender));
  const isLeft = signsElsewhere && deploysWallets(config);
  return isLeft ? kinds.filter((kind) => kind !== 'wallet_deployment') : kinds;
}

/**
 * Returns why a job stays `pending` after this refusal; `null` if it does not. The job waits for
 * the next hour, for a proposed wallet to be applied, canceled or lapsed, or until the token or the
 * guardian allows it again.
 */
export function whyItWaits(revert: Revert, kind: RequestKind): string | null {
  if (revert.kind === 'hour_full' || revert.kind === 'wallet_pending') return revert.words;
  return revert.kind === 'blocked' && KINDS[kind].waits ? revert.words : null;
}

/** True if the event shows that this job was done. */
export function answers(event: SettlementEvent, request: OpenRequest): boolean {
  const expected = KINDS[request.kind].event?.(request);
  if (expected === undefined) return false;
  const shown: { readonly [name: string]: unknown } = { ...event };
  return Object.entries(expected).every(([name, value]) =>
    ADDRESSES.includes(name)
      ? String(shown[name]).toLowerCase() === String(value).toLowerCase()
      : shown[name] === value,
  );
}

const ADDRESSES = ['payer', 'wallet'];

/**
 * Returns the failure of a refused job: the kind's only one, or else `told`, or else a general one.
 */
export function failureOf(kind: RequestKind, told: FailureReason | null): FailureReason {
  return KINDS[kind].failsFor ?? told ?? 'transaction_reverted';
}

/** The `result` type of chain-requests.ts, for all kinds. */
export type Result =
  | { readonly succeeded: true; readonly facts: OutcomeFacts[keyof OutcomeFacts] }
  | Failure;

export function failed(reason: FailureReason, txHash: Hex | null): Failure {
  return { succeeded: false, reason, txHash };
}

export function placeOf(
  { txHash, blockNumber, logIndex }: Pick<SettlementEvent, 'txHash' | 'blockNumber' | 'logIndex'>,
  blockTime: Date,
): ChainPlace {
  const blockText = blockNumber.toString();
  return { txHash, blockNumber: blockText, logIndex, blockTime: blockTime.toISOString() };
}

/** Returns the result of a job that this event shows as succeeded. `seenAt`: see `Mined`. */
export function eventResult(
  event: SettlementEvent,
  { time: blockTime, seenAt = null }: { readonly time: Date; readonly seenAt?: Date | null },
  chainId: number,
): Result {
  const position = placeOf(event, blockTime);
  if (event.event === 'MerchantRegistered') {
    const merchantNumber = event.merchantNumber.toString();
    return { succeeded: true, facts: { ...position, merchantNumber } };
  }
  if (event.event !== 'PaymentSettled') return { succeeded: true, facts: position };
  const facts: OutcomeFacts['payment'] = {
    ...position,
    settlementNumber: event.number.toString(),
    batchNumber: event.batchNumber.toString(),
    feeAcquirer: event.feeAcquirer.toString(),
    feeProtocol: event.feeProtocol.toString(),
    cashback: event.cashback.toString(),
    chainId,
    ...(seenAt === null ? {} : { seenAt: seenAt.toISOString() }),
  };
  return { succeeded: true, facts };
}
