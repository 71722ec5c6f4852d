import type { Tx } from '#db/database.ts';
import {
  endOverdue,
  endUnsigned,
  insertRequests,
  markOutcomesApplied,
  type OutcomeRow,
  selectOutcomes,
} from '#settlement/chain-request-queries.ts';

/** A checksummed address, or bytes, as hex. */
export type Hex = `0x${string}`;

/**
 * The payloads of settlement jobs, by kind. `subjectId` is the object for which the job was
 * created; a database constraint allows only one job per kind and subject that is in progress or
 * done. All amounts are decimal strings of atoms, because payloads are JSON.
 */
export interface RequestPayloads {
  /** Subject: the payment intent. Settled by settleBatch under the intent's number. */
  payment: {
    merchantNumber: string;
    payer: Hex;
    amount: string;
    orderId: string;
    /**
     * The payer's signature for this payment only. If set, the payment is sent in a separate
     * transaction.
     */
    authorization?: PaymentAuthorization;
    /**
     * Context that the result returns unchanged if the chain settles the payment after it was
     * declined.
     */
    attempt?: unknown;
  };
  /** Subject: the refund. */
  refund: { paymentId: string; paymentNumber: string; amount: string; reference: Hex };
  /** Subject: the withdrawal. */
  withdrawal: { merchantNumber: string; wallet: Hex; amount: string };
  /** Subject: `<account id>:<network>`, and `:<contract version>` on a later contract. */
  merchant_registration: { accountId: string; wallet: Hex; deadline: string; signature: Hex };
  /** Subject: `<wallet change id>:<step>`. Proposes, then applies, another settlement wallet. */
  wallet_change:
    | {
        step: 'propose';
        merchantNumber: string;
        wallet: Hex;
        deadline: string;
        /** The new wallet's signature. */
        signature: Hex;
      }
    | { step: 'cancel' | 'apply'; merchantNumber: string };
  /** Subject: a new id. A policy signed by the payer, a permit, or both. */
  enrolment: {
    payer: Hex;
    policy: {
      perPaymentCap: string;
      periodCap: string;
      periodSeconds: string;
      /** Unix seconds. */
      expiry: string;
      /** The highest sum of acquirer and protocol fee that the payer accepts, in basis points. */
      maxFeeRate: string;
      nonce: string;
      deadline: string;
      signature: Hex;
    } | null;
    permit: { value: string; deadline: string; signature: Hex } | null;
  };
  /** Subject: a new id. Test network only, by TestUSDC's open mint. */
  faucet: { to: Hex; amount: string };
  /** Subject: a new id. USDC that a payer sends by an EIP-3009 TransferWithAuthorization. */
  transfer: {
    from: Hex;
    to: Hex;
    amount: string;
    /** Unix seconds. */
    validBefore: string;
    nonce: Hex;
    signature: Hex;
  };
  /**
   * Subject: `<network>:<wallet>`. Deploys a payer's contract wallet by a call of its factory,
   * which the operator has listed.
   */
  wallet_deployment: { wallet: Hex; factory: Hex; data: Hex };
}

export type RequestKind = keyof RequestPayloads;

/**
 * A payer's EIP-3009 ReceiveWithAuthorization. Its value is the contract's
 * charge for the payment. Its nonce commits to merchant, amount, salt and, unless it hides them,
 * the payment's number and order id.
 */
export interface PaymentAuthorization {
  readonly salt: Hex;
  /**
   * False if the nonce commits to neither number nor order, so that it does not reveal the order's
   * id.
   */
  readonly bindsOrder?: false;
  /** Unix seconds: the token accepts the authorization in blocks after this time. Omitted if 0. */
  readonly validAfter?: string;
  /** Unix seconds: the token accepts the authorization in blocks before this time. */
  readonly validBefore: string;
  /** 65 bytes if a key signed; any length if a contract wallet (ERC-1271) signed. */
  readonly signature: Hex;
}

export interface ChainPlace {
  readonly txHash: Hex;
  readonly blockNumber: string;
  readonly logIndex: number;
  /** ISO 8601: the time of the block. */
  readonly blockTime: string;
}

/**
 * The reason why no money moved. Reasons for payments are the contract's; the rest are the
 * service's.
 */
export type FailureReason =
  | 'insufficient_funds'
  | 'approval_insufficient'
  | 'limit_exceeded'
  /**
   * The token refused the payer's signature, or the contract's rates changed after the payer
   * signed.
   */
  | 'authorization_refused'
  | 'settlement_failed'
  | 'insufficient_balance'
  /** For a day, USDC or the hourly ceiling refused the payout; or an operator canceled it. */
  | 'transfer_blocked'
  /** Withdrawals: another wallet was registered before the withdrawal was paid. */
  | 'wallet_changed'
  /** Wallet changes: the contract has no such proposal, or no longer has it. */
  | 'wallet_not_announced'
  | 'transaction_reverted';

export interface OutcomeFacts {
  payment: ChainPlace & {
    /**
     * ISO 8601: when a worker first saw the block, if several blocks share a second; otherwise
     * omitted.
     */
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
  wallet_deployment: ChainPlace;
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
          /**
           * The payload's `attempt`, if a reorganization settled the payment after it was declined.
           */
          readonly afterDecline?: unknown;
        }
      | Failure;
  };
}[K];

export interface Failure {
  readonly succeeded: false;
  readonly reason: FailureReason;
  readonly txHash: Hex | null;
  /** True if the payment was not settled in time and never will be. */
  readonly overdue?: true;
  /** True if the hourly ceiling had been reached in the payment's block. */
  readonly hourFull?: true;
}

export const NOT_IN_TIME: Failure = {
  succeeded: false,
  reason: 'settlement_failed',
  txHash: null,
  overdue: true,
};

/** All jobs other than payments. */
export type OtherKind = Exclude<RequestKind, 'payment'>;

export interface NewRequest<K extends OtherKind> {
  readonly livemode: boolean;
  readonly kind: K;
  readonly subjectId: string;
  readonly payload: RequestPayloads[K];
  /** For withdrawals: the number under which the contract pays this withdrawal at most once. */
  readonly number?: bigint;
  readonly now: Date;
}

/** A payment that must settle within this many seconds of its tap or approval, or never. */
export interface PaymentRequest {
  readonly livemode: boolean;
  readonly subjectId: string;
  /**
   * The intent's settlement number, the same for each attempt. `null` if an earlier release created
   * the intent without one; it gets one now.
   */
  readonly number: bigint | null;
  readonly payload: RequestPayloads['payment'];
  readonly settleWithinS: number;
}

/**
 * Inserts a row for the relayer. After the commit, send the wake-up `chain-requests` with the
 * network as key.
 * @throws unique_violation if the subject already has such a job in progress or done.
 */
export async function requestOnChain<K extends OtherKind>(
  tx: Tx,
  request: NewRequest<K>,
): Promise<void> {
  await insertRequests(tx, [request], request.now);
}

/** Inserts rows for several payments with one statement, for group commits. */
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
 * Locks up to `limit` unapplied results, oldest first; other workers skip them. Apply each in this
 * transaction and call {@link applied} with their ids.
 */
export async function takeOutcomes<K extends RequestKind>(
  tx: Tx,
  kind: K,
  limit: number,
): Promise<Outcome<K>[]> {
  return (await selectOutcomes(tx, kind, limit)).map((row) => toOutcome<K>(row));
}

/**
 * Locks up to `limit` payments whose deadline passed before they were signed, so no money has moved
 * or will move. Apply their results in this transaction, like other results. Any process may do
 * this, without a worker or a lease: other processes skip the locked payments.
 */
export async function takeOverduePayments(tx: Tx, limit: number): Promise<Outcome<'payment'>[]> {
  return (await endOverdue(tx, NOT_IN_TIME, limit)).map((row) => toOutcome<'payment'>(row));
}

/**
 * Ends up to `limit` payments that were requested before `before`, when data was lost, and never
 * signed: they may have been declined in the lost period.
 * @returns their intents, which are still `processing`.
 */
export async function dropUnsignedPayments(
  tx: Tx,
  which: { readonly livemode: boolean; readonly before: Date; readonly limit: number },
): Promise<string[]> {
  return endUnsigned(tx, NOT_IN_TIME, which);
}

/**
 * Marks these results as applied, in the transaction that applies them, so that they are not taken
 * again.
 */
export async function applied(tx: Tx, requestIds: readonly bigint[], now: Date): Promise<void> {
  await markOutcomesApplied(tx, requestIds, now);
}

function toOutcome<K extends RequestKind>(row: OutcomeRow): Outcome<K> {
  const { id, kind, livemode, subject_id: subjectId, outcome: result } = row;
  return { requestId: id, kind, livemode, subjectId, result } as unknown as Outcome<K>;
}
