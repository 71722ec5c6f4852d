import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import type { RefundProof, TargetCall } from '#settlement/relayer/rows/payloads.ts';

/** A transaction that is about to be signed. */
export interface Planned {
  readonly kind: string;
  readonly call: TargetCall;
  readonly gasLimit: bigint;
  readonly requests: readonly OpenRequest[];
  /** Payments only: the block time after which the contract refuses them. */
  readonly validUntil?: Date;
  /** For a refund, which is put in order with others of its payment right before it is signed. */
  readonly refund?: PreparedRefund;
}

export interface LockedLane {
  readonly relayer: RelayerState;
  readonly lane: HeldLane;
  /** The lane's next nonce, read under its lock. */
  readonly nonce: bigint;
}

export interface PreparedRefund {
  readonly proof: RefundProof;
  /** What the contract has refunded of the payment at the head. */
  readonly refunded: bigint;
}
