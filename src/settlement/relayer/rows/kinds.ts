import { zeroAddress } from 'viem';
import { assertNever, present } from '#core/assert.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { marksOf } from '#settlement/chain/final-block.ts';
import {
  enrolCall,
  merchantReference,
  mintCall,
  type PaymentCall,
  pack,
  permitCall,
  policyCall,
  type Revert,
  refundCall,
  registerMerchantCall,
  settleWithAuthorizationCall,
  transferCall,
  walletChangeCall,
  withdrawCall,
} from '#settlement/contract/contract-calls.ts';
import {
  eventTopics,
  type PaymentSettled,
  type SettlementEvent,
} from '#settlement/contract/contract-events.ts';
import { contractOf } from '#settlement/editions.ts';
import type { CountsRule, LaneRole, NetworkConfig } from '#settlement/networks.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import type {
  ChainPlace,
  Failure,
  FailureReason,
  Hex,
  OutcomeFacts,
  PaymentAuthorization,
  RequestKind,
  RequestPayloads,
} from '#settlement/requests.ts';

/** A call of one of the contracts. */
export interface TargetCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** The payload, typed as requests.ts wrote it. */
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

/** What the payer signed for this payment alone; null: it is paid under a standing policy. */
export function authorizationOf(request: OpenRequest): PaymentAuthorization | null {
  return payloadOf(request, 'payment').authorization ?? null;
}

/** For a refund that an earlier release requested. */
const NO_REFERENCE: Hex = `0x${'0'.repeat(32)}`;

/** The refund's name in its event. */
export function referenceOf(request: OpenRequest): Hex {
  return payloadOf(request, 'refund').reference ?? NO_REFERENCE;
}

/**
 * What a refund's call needs in addition to the request: the payment as it was settled, and its
 * proof.
 */
export interface RefundProof {
  readonly payment: PaymentCall;
  /** Where the contract keeps the node that the proof leads to. */
  readonly nodeIndex: bigint;
  readonly proof: readonly Hex[];
}

export function refundTarget(
  request: OpenRequest,
  proven: RefundProof & { readonly refundedBefore: bigint },
  config: NetworkConfig,
): TargetCall {
  const amount = BigInt(payloadOf(request, 'refund').amount);
  const reference = referenceOf(request);
  const to = contractOf(config, proven.payment.merchantNumber);
  return { to, data: refundCall({ ...proven, amount, reference }) };
}

/**
 * What the relayer knows of one kind of request. All of its steps ask here, so a new kind is a new
 * record, and nothing else changes unless it needs a preparation of its own.
 */
interface KindRecord {
  /** Whose lanes send it. */
  readonly lane: LaneRole;
  /** Its call, where the request alone says what it is; null: `flushSingles` prepares it. */
  readonly call: ((request: OpenRequest, config: NetworkConfig) => TargetCall) | null;
  /**
   * Where there is no `call`: throws for a request that can never become one, whatever the chain's
   * state.
   */
  readonly write: ((request: OpenRequest, config: NetworkConfig) => void) | null;
  /** The topics of the event of an earlier success; null: the contract has no event for it. */
  readonly topics: ((request: OpenRequest) => (Hex | null)[]) | null;
  /**
   * Whether this request asked for what the event says, in everything that money depends on. null:
   * it has no event, and a transaction does this one thing, so success is the receipt's.
   */
  readonly answers: ((event: SettlementEvent, request: OpenRequest) => boolean) | null;
  /** Many travel in one call, which skips those that fail: events answer them by their numbers. */
  readonly batched: boolean;
  /**
   * What follows when the ledger has booked it, a reorganization has undone it, and the chain
   * refuses it now. Money that is booked is sent until the chain takes it. A refund or withdrawal
   * can be refused for the new order alone: a proof names a batch that has another number now, or
   * the balance comes later. Of a payment a person is told, because the payer's money may be gone.
   */
  readonly whenUndone: 'send_again' | 'send_again_and_tell' | 'tell';
  /** It is not given up while the token or its proof prevents it. */
  readonly waits: boolean;
  /** Whoever has seen what the payer signed can send it, too. Then a revert decides nothing. */
  readonly anybodySends: boolean;
  /** The only reason for which it fails, refused or given up; null: the contract's reason. */
  readonly failsFor: FailureReason | null;
}

/** A placeholder for the one that the chain will give. */
const ANY_PROOF = {
  payment: { number: 1n, payer: zeroAddress, merchantNumber: 1n, amount: 1n, orderId: 'A' },
  nodeIndex: 0n,
  proof: [],
  refundedBefore: 0n,
} as const;

/** What most kinds have in common: sent alone, without an event. */
const ALONE = {
  write: null,
  topics: null,
  answers: null,
  batched: false,
  whenUndone: 'tell',
  waits: false,
  anybodySends: false,
  failsFor: null,
} as const;

export const KINDS: Readonly<Record<RequestKind, KindRecord>> = {
  payment: {
    ...ALONE,
    lane: 'operator',
    call: null,
    write: writePayment,
    topics: (request) => eventTopics({ event: 'PaymentSettled', number: numberOf(request) }),
    answers: (event, request) => event.event === 'PaymentSettled' && samePayment(event, request),
    batched: true,
    whenUndone: 'send_again_and_tell',
    failsFor: 'settlement_failed',
  },
  refund: {
    ...ALONE,
    lane: 'operator',
    // It needs the payment's proof, and what was refunded before.
    call: null,
    write: (request, config) => refundTarget(request, ANY_PROOF, config),
    answers: sameRefund,
    whenUndone: 'send_again',
    waits: true,
  },
  withdrawal: {
    ...ALONE,
    lane: 'operator',
    call: (request, config) => {
      const { merchantNumber, wallet, amount } = payloadOf(request, 'withdrawal');
      const number = numberOf(request);
      const paid = { merchantNumber: BigInt(merchantNumber), wallet, amount: BigInt(amount) };
      return {
        to: contractOf(config, paid.merchantNumber),
        data: withdrawCall({ ...paid, number }),
      };
    },
    topics: (request) => eventTopics({ event: 'Withdrawn', number: numberOf(request) }),
    answers: sameWithdrawal,
    whenUndone: 'send_again',
  },
  merchant_registration: {
    ...ALONE,
    lane: 'registrar',
    call: (request, { settlement }) => {
      const payload = payloadOf(request, 'merchant_registration');
      return { to: settlement, data: registerMerchantCall(payload) };
    },
    topics: (request) => {
      const { accountId } = payloadOf(request, 'merchant_registration');
      const reference = merchantReference(accountId);
      return eventTopics({ event: 'MerchantRegistered', reference });
    },
    answers: sameRegistration,
  },
  wallet_change: {
    ...ALONE,
    lane: 'registrar',
    call: (request, config) => {
      const change = payloadOf(request, 'wallet_change');
      const to = contractOf(config, BigInt(change.merchantNumber));
      return { to, data: walletChangeCall(change) };
    },
  },
  enrolment: {
    ...ALONE,
    lane: 'operator',
    call: (request, config) => enrolmentCall(payloadOf(request, 'enrolment'), config),
  },
  faucet: {
    ...ALONE,
    lane: 'operator',
    call: (request, { usdc }) => {
      const { to, amount } = payloadOf(request, 'faucet');
      return { to: usdc, data: mintCall(to, BigInt(amount)) };
    },
  },
  transfer: {
    ...ALONE,
    lane: 'sponsor',
    call: (request, { usdc }) => ({
      to: usdc,
      data: transferCall(payloadOf(request, 'transfer')),
    }),
    anybodySends: true,
  },
};

/**
 * The contract that a request asks: that of its merchant, otherwise the one that merchants and
 * payers join now. A refund's is known from its payment (`prepare-refund.ts`).
 */
export function contractOfRequest(
  { kind, payload }: Pick<OpenRequest, 'kind' | 'payload'>,
  config: NetworkConfig,
): Hex {
  switch (kind) {
    case 'payment':
    case 'withdrawal':
    case 'wallet_change': {
      const { merchantNumber } = payload as { readonly merchantNumber: string };
      return contractOf(config, BigInt(merchantNumber));
    }
    case 'merchant_registration':
    case 'enrolment':
    case 'refund':
      return config.settlement;
    case 'faucet':
    case 'transfer':
      return config.usdc;
    default:
      return assertNever(kind);
  }
}

const ALL = Object.keys(KINDS) as RequestKind[];

/**
 * What the lanes of this role send. Where no key sponsors transfers any more, operators send what
 * was accepted while there was one.
 */
export function kindsOf(
  role: LaneRole,
  { sponsorKey }: Pick<NetworkConfig, 'sponsorKey'>,
): readonly RequestKind[] {
  const isMine = (lane: LaneRole) =>
    lane === role || (lane === 'sponsor' && role === 'operator' && sponsorKey === null);
  return ALL.filter((kind) => isMine(KINDS[kind].lane));
}

/**
 * Throws for what can never be made into a call, whatever the chain says: a payload of another
 * kind, or numbers and texts that are too large for the contract. Asks nobody.
 */
export function requireWritable(request: OpenRequest, config: NetworkConfig): void {
  const { call, write } = KINDS[request.kind];
  present(call ?? write, 'what writes a request')(request, config);
}

/**
 * Why a request of this kind stays `pending` over this refusal; null: it does not. A full hour
 * passes by itself, so withdrawals wait for the next one, too; and an announced wallet comes into
 * force, is canceled or lapses.
 */
export function whyItWaits(revert: Revert, kind: RequestKind): string | null {
  if (revert.kind === 'hour_full' || revert.kind === 'wallet_pending') return revert.words;
  return revert.kind === 'blocked' && KINDS[kind].waits ? revert.words : null;
}

function writePayment(request: OpenRequest): void {
  const payment = paymentOf(request);
  pack(payment);
  const authorization = authorizationOf(request);
  if (authorization !== null) settleWithAuthorizationCall(payment, authorization, 0);
}

/** Whether the event says that this request was done. */
export function answers(event: SettlementEvent, request: OpenRequest): boolean {
  return KINDS[request.kind].answers?.(event, request) ?? false;
}

/** The failure of a request that was refused for this reason, or for an unknown one. */
export function failureOf(kind: RequestKind, told: FailureReason | null): FailureReason {
  return KINDS[kind].failsFor ?? told ?? 'transaction_reverted';
}

function samePayment(event: PaymentSettled, request: OpenRequest): boolean {
  const payment = paymentOf(request);
  return (
    event.number === payment.number &&
    sameAddress(event.payer, payment.payer) &&
    event.merchantNumber === payment.merchantNumber &&
    event.amount === payment.amount &&
    event.orderId === payment.orderId
  );
}

/** Searched for only in its own transaction: refunds of an earlier release have no reference. */
function sameRefund(event: SettlementEvent, request: OpenRequest): boolean {
  const { paymentNumber, amount } = payloadOf(request, 'refund');
  return (
    event.event === 'PaymentRefunded' &&
    event.reference === referenceOf(request) &&
    (paymentNumber === undefined || event.number === BigInt(paymentNumber)) &&
    event.amount === BigInt(amount)
  );
}

function sameWithdrawal(event: SettlementEvent, request: OpenRequest): boolean {
  const { merchantNumber, wallet, amount } = payloadOf(request, 'withdrawal');
  return (
    event.event === 'Withdrawn' &&
    sameAddress(event.wallet, wallet) &&
    event.number === numberOf(request) &&
    event.merchantNumber === BigInt(merchantNumber) &&
    event.amount === BigInt(amount)
  );
}

function sameRegistration(event: SettlementEvent, request: OpenRequest): boolean {
  const { accountId, wallet } = payloadOf(request, 'merchant_registration');
  return (
    event.event === 'MerchantRegistered' &&
    event.reference === merchantReference(accountId) &&
    sameAddress(event.wallet, wallet)
  );
}

function sameAddress(a: Hex, b: Hex): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function enrolmentCall(
  payload: RequestPayloads['enrolment'],
  { settlement, usdc }: NetworkConfig,
): TargetCall {
  const { payer, policy, permit } = payload;
  if (policy !== null && permit !== null) {
    return { to: settlement, data: enrolCall(payer, policy, permit) };
  }
  if (policy !== null) return { to: settlement, data: policyCall(payer, policy) };
  return { to: usdc, data: permitCall(payer, settlement, present(permit, 'permit or policy')) };
}

/** The `result` of requests.ts, for any kind. */
export type Result =
  | { readonly succeeded: true; readonly facts: OutcomeFacts[keyof OutcomeFacts] }
  | Failure;

export function failed(reason: FailureReason, txHash: Hex | null): Failure {
  return { succeeded: false, reason, txHash };
}

function placeOf(
  event: { readonly txHash: Hex; readonly blockNumber: bigint; readonly logIndex: number },
  blockTime: Date,
): ChainPlace {
  return {
    txHash: event.txHash,
    blockNumber: event.blockNumber.toString(),
    logIndex: event.logIndex,
    blockTime: blockTime.toISOString(),
  };
}

function paymentResult(event: PaymentSettled, blockTime: Date, chainId: number): Result {
  const facts: OutcomeFacts['payment'] = {
    ...placeOf(event, blockTime),
    settlementNumber: event.number.toString(),
    batchNumber: event.batchNumber.toString(),
    feeAcquirer: event.feeAcquirer.toString(),
    feeProtocol: event.feeProtocol.toString(),
    cashback: event.cashback.toString(),
    chainId,
  };
  return { succeeded: true, facts };
}

/** The same, with the time at which the block was first seen. */
export function seenResult(result: Result, seenAt: Date | null): Result {
  if (!result.succeeded || seenAt === null) return result;
  return { ...result, facts: { ...result.facts, seenAt: seenAt.toISOString() } };
}

/** The facts of a request that succeeded by this event (payments: {@link paymentResult}). */
export function eventResult(event: SettlementEvent, blockTime: Date, chainId: number): Result {
  if (event.event === 'PaymentSettled') return paymentResult(event, blockTime, chainId);
  const place = placeOf(event, blockTime);
  if (event.event !== 'MerchantRegistered') return { succeeded: true, facts: place };
  const merchantNumber = event.merchantNumber.toString();
  return { succeeded: true, facts: { ...place, merchantNumber } };
}

type Rules = Pick<NetworkConfig, 'countsFrom' | 'profile'>;

/** What a payment waits for once it is in a block; null: nothing more than all others. */
export function patienceOf(
  { countsFrom, profile }: Rules,
  { kind, payload }: Pick<OpenRequest, 'kind' | 'payload'>,
): CountsRule | null {
  if (kind !== 'payment' || countsFrom.length === 0) return null;
  const amount = BigInt((payload as RequestPayloads['payment']).amount);
  const rule = countsFrom.findLast(({ from }) => amount >= from);
  if (rule === undefined || rule.waitsFor === 'inclusion') return null;
  const isFinal = profile.finality === 'deterministic' && rule.waitsFor !== 'time';
  return isFinal ? null : rule;
}

/**
 * Whether a success that was found on the chain may be booked, or its payment still waits.
 * @throws RpcUnavailable
 */
export async function countsYet(
  chain: Chain,
  request: Pick<OpenRequest, 'kind' | 'payload'>,
  result: Result,
): Promise<boolean> {
  const rule = patienceOf(chain.config, request);
  if (rule === null || !result.succeeded) return true;
  const head = await chain.newest();
  const { blockNumber, blockTime } = result.facts;
  if (rule.waitsFor === 'time') {
    // Both times are whole seconds, so one may be nearly a second too early.
    return head.time.getTime() - Date.parse(blockTime) >= rule.ms + SECOND_MS;
  }
  const { safe, finalized } = await marksOf(chain, head.number);
  return BigInt(blockNumber) <= (rule.waitsFor === 'safe' ? safe : finalized);
}

const SECOND_MS = 1_000;

const CERTAINTY = { inclusion: 0, time: 1, safe: 2, finalized: 3 } as const;

/** The rule that takes longest. */
export function mostPatient(rules: readonly (CountsRule | null)[]): CountsRule | null {
  const known = rules.filter((rule) => rule !== null);
  return (
    known.toSorted((a, b) => CERTAINTY[b.waitsFor] - CERTAINTY[a.waitsFor] || b.ms - a.ms)[0] ??
    null
  );
}

/** Apart, so that a small sum never waits for a large one. */
export function groupByPatience<T extends Pick<OpenRequest, 'kind' | 'payload'>>(
  config: Rules,
  requests: readonly T[],
): T[][] {
  return [...Map.groupBy(requests, (request) => patienceOf(config, request)).values()];
}
