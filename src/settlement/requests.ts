import type { Tx } from '#db/database.ts';
import {
  endOverdue,
  endUnsigned,
  insertRequests,
  markOutcomesApplied,
  type OutcomeRow,
  selectOutcomes,
} from '#settlement/request-queries.ts';

/** A checksummed address, or bytes, as hex. */
export type Hex = `0x${string}`;

/**
 * What a domain may ask of a chain, by kind. `subjectId` is the object that asked: at most one
 * request per kind and subject is ever under way or done (a database constraint).
 * All amounts are decimal strings of atoms here, because payloads are JSON.
 */
export interface RequestPayloads {
  /** subject: payment intent. Settled through settleBatch under the intent's number. */
  payment: {
    merchantNumber: string;
    payer: Hex;
    amount: string;
    orderId: string;
    /** If set, the payer signed for this one payment, and it goes in a transaction of its own. */
    authorization?: PaymentAuthorization;
    /** Returned unchanged if the chain settles the payment after it was declined. */
    attempt?: unknown;
  };
  /** subject: refund. Those of an earlier release have neither reference nor payment number. */
  refund: { paymentId: string; paymentNumber?: string; amount: string; reference?: Hex };
  /** subject: withdrawal. */
  withdrawal: { merchantNumber: string; wallet: Hex; amount: string };
  /** subject: `<account id>:<network>`, on a later contract followed by `:<contract version>`. */
  merchant_registration: { accountId: string; wallet: Hex; deadline: string; signature: Hex };
  /** subject: `<wallet change id>:<step>`. Another settlement wallet: announced, then applied. */
  wallet_change:
    | {
        step: 'propose';
        merchantNumber: string;
        wallet: Hex;
        deadline: string;
        /** By the new wallet. */
        signature: Hex;
      }
    | { step: 'cancel' | 'apply'; merchantNumber: string };
  /** subject: a fresh id. A policy signed by the payer, with a permit (both may be absent). */
  enrolment: {
    payer: Hex;
    policy: {
      perPaymentCap: string;
      periodCap: string;
      periodSeconds: string;
      /** Unix seconds. */
      expiry: string;
      /** The acquirer and protocol fee together that the payer accepts, in basis points. */
      maxFeeRate: string;
      nonce: string;
      deadline: string;
      signature: Hex;
    } | null;
    permit: { value: string; deadline: string; signature: Hex } | null;
  };
  /** subject: a fresh id. Test network only: TestUSDC's open mint. */
  faucet: { to: Hex; amount: string };
  /** subject: a fresh id. USDC that a payer sends out, by an EIP-3009 TransferWithAuthorization. */
  transfer: {
    from: Hex;
    to: Hex;
    amount: string;
    /** Unix seconds. */
    validBefore: string;
    nonce: Hex;
    signature: Hex;
  };
}

export type RequestKind = keyof RequestPayloads;

/**
 * A payer's EIP-3009 ReceiveWithAuthorization, whose nonce binds merchant, amount, salt and, unless
 * it hides them, number and order id of the payment, and whose value is what the contract charges
 * for it. Valid from the beginning.
 */
export interface PaymentAuthorization {
  readonly salt: Hex;
  /** false: the nonce names neither number nor order, so that it tells nobody the order's id. */
  readonly bindsOrder?: false;
  /** Unix seconds: the token takes it in blocks before this time. */
  readonly validBefore: string;
  /** From a key: 65 bytes; a contract wallet (ERC-1271) gives any length. */
  readonly signature: Hex;
}

/** Where on the chain it happened. */
export interface ChainPlace {
  readonly txHash: Hex;
  readonly blockNumber: string;
  readonly logIndex: number;
  /** ISO 8601: the block's own time. */
  readonly blockTime: string;
}

/** Why nothing moved. Payment reasons are the contract's; the rest are ours. */
export type FailureReason =
  | 'insufficient_funds'
  | 'approval_insufficient'
  | 'limit_exceeded'
  /** The token refused what the payer signed, or the rates have changed since then. */
  | 'authorization_refused'
  | 'settlement_failed'
  | 'insufficient_balance'
  /** USDC, or the hour's ceiling, refused it for a whole day, or a person gave it up meanwhile. */
  | 'transfer_blocked'
  /** Withdrawals: another wallet was registered before it was paid. */
  | 'wallet_changed'
  /** Wallet changes: the contract knows no such announcement, or none any more. */
  | 'wallet_not_announced'
  | 'transaction_reverted';

export interface OutcomeFacts {
  payment: ChainPlace & {
    /** ISO 8601: when a worker first saw the block, where several share a second; else absent. */
    seenAt?: string;
    settlementNumber: string;
    batchNumber: string;
    feeAcquirer: string;
    feeProtocol: string;
    cashback: string;
    chainId: number;
  };
  refund: ChainPlace;
  withdrawal: ChainPlace;
  merchant_registration: ChainPlace & { merchantNumber: string };
  wallet_change: ChainPlace;
  enrolment: ChainPlace;
  faucet: ChainPlace;
  transfer: ChainPlace;
}

export type Outcome<K extends RequestKind = RequestKind> = {
  [Kind in K]: {
    readonly requestId: bigint;
    readonly kind: Kind;
    readonly livemode: boolean;
    readonly subjectId: string;
    readonly result:
      | {
          readonly succeeded: true;
          readonly facts: OutcomeFacts[Kind];
          /** It was declined, and then a reorganization settled it: the payload's attempt. */
          readonly afterDecline?: unknown;
        }
      | Failure;
  };
}[K];

export interface Failure {
  readonly succeeded: false;
  readonly reason: FailureReason;
  readonly txHash: Hex | null;
  /** It was not settled in time, and now it never will be. */
  readonly overdue?: true;
  /** The hour was full when its block came. */
  readonly hourFull?: true;
}

/** For a payment that its deadline has ended. */
export const NOT_IN_TIME: Failure = {
  succeeded: false,
  reason: 'settlement_failed',
  txHash: null,
  overdue: true,
};

/** All requests other than payments. */
export type OtherKind = Exclude<RequestKind, 'payment'>;

export interface NewRequest<K extends OtherKind> {
  readonly livemode: boolean;
  readonly kind: K;
  readonly subjectId: string;
  readonly payload: RequestPayloads[K];
  /** Withdrawals only: the number under which the contract pays them, once. */
  readonly number?: bigint;
  readonly now: Date;
}

/** A payment settles within this many seconds of its tap, or of the payer's yes, or never. */
export interface PaymentRequest {
  readonly livemode: boolean;
  readonly subjectId: string;
  /**
   * The intent's settlement number, the same for each of its attempts. null: an earlier release
   * created the intent without one, and it gets one now.
   */
  readonly number: bigint | null;
  readonly payload: RequestPayloads['payment'];
  readonly settleWithinS: number;
}

/**
 * Inserts a row for the relayer. After the commit send the wake-up `chain-requests`, key = network.
 * @throws unique_violation when the subject has such a request under way or done already.
 */
export async function requestOnChain<K extends OtherKind>(
  tx: Tx,
  request: NewRequest<K>,
): Promise<void> {
  await insertRequests(tx, [request], request.now);
}

/** The same for payments, several in one statement: for group commits. */
export async function requestPayments(
  tx: Tx,
  requests: readonly PaymentRequest[],
  now: Date,
): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map((request) => ({ ...request, kind: 'payment' }));
  await insertRequests(tx, rows, now);
}

/**
 * Locks up to `limit` outcomes that nobody has applied yet, oldest first; other workers skip them.
 * Apply each in this transaction and call {@link applied} with their ids.
 */
export async function takeOutcomes<K extends RequestKind>(
  tx: Tx,
  kind: K,
  limit: number,
): Promise<Outcome<K>[]> {
  return (await selectOutcomes(tx, kind, limit)).map((row) => toOutcome<K>(row));
}

/**
 * Locks up to `limit` payments whose deadline has passed before anybody signed them: nothing has
 * moved and nothing will. Their outcome says so; apply it in this transaction, like the others. It
 * needs neither a worker of their network nor a lease: a second process finds nothing to do.
 */
export async function takeOverduePayments(tx: Tx, limit: number): Promise<Outcome<'payment'>[]> {
  return (await endOverdue(tx, NOT_IN_TIME, limit)).map((row) => toOutcome<'payment'>(row));
}

/**
 * Ends up to `limit` payments that were asked for before a loss and never signed: somebody may have
 * been told in the lost time that they were declined. @returns their intents, still `processing`.
 */
export async function dropUnsignedPayments(
  tx: Tx,
  which: { readonly livemode: boolean; readonly before: Date; readonly limit: number },
): Promise<string[]> {
  return endUnsigned(tx, NOT_IN_TIME, which);
}

/** Marks these outcomes as applied by this transaction; they are not handed out again. */
export async function applied(tx: Tx, requestIds: readonly bigint[], now: Date): Promise<void> {
  await markOutcomesApplied(tx, requestIds, now);
}

function toOutcome<K extends RequestKind>(row: OutcomeRow): Outcome<K> {
  const { id, kind, livemode, subject_id: subjectId, outcome: result } = row;
  return { requestId: id, kind, livemode, subjectId, result } as unknown as Outcome<K>;
}
