import { assertNever } from '#core/assert.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';

/**
 * What a sender (one address with its nonces) may do.
 *
 * | status          | takes work | meaning                                                      |
 * |-----------------|------------|--------------------------------------------------------------|
 * | `idle`          | yes        | Nothing of it is under way.                                  |
 * | `working`       | yes        | Transactions of it are open.                                 |
 * | `asking_signer` | no         | Its signer owes bytes: other senders take the payments.      |
 * | `starved`       | no         | It cannot pay for a full batch until it is funded.           |
 * | `draining`      | no         | It belongs to another worker as soon as nothing is under way.|
 * | `stopped`       | no         | Its key was used elsewhere (`relayer_senders.stopped_at`).     |
 *
 * The last one that applies is the status. All but `stopped` are found out again after a crash.
 */
export type SenderStatus =
  | 'idle'
  | 'working'
  | 'asking_signer'
  | 'starved'
  | 'draining'
  | 'stopped';

/** What was observed about a sender, besides its transactions. */
export interface SenderFacts {
  readonly isStopped: boolean;
  readonly isDraining: boolean;
  readonly isStarved: boolean;
  /** Payments that its balance covers at the last fees; `null` if unknown. */
  readonly paymentsLeft: bigint | null;
  /** True while its signer is being asked, so that no second request is made. */
  readonly isSignerAsked: boolean;
}

export type SenderObservation =
  /** True if the sender is beyond this worker's share. */
  | { readonly kind: 'shared'; readonly isBeyondShare: boolean }
  | {
      readonly kind: 'balance';
      readonly isStarved: boolean;
      readonly paymentsLeft: bigint | null;
    }
  /** The sender's row is committed as stopped. */
  | { readonly kind: 'foreign_key' }
  | { readonly kind: 'signer_asked' }
  | { readonly kind: 'signer_answered' };

export function newSender(isStopped: boolean): SenderFacts {
  return {
    isStopped,
    ...{ isDraining: false, isStarved: false, paymentsLeft: null, isSignerAsked: false },
  };
}

export function stepSender(sender: SenderFacts, observation: SenderObservation): SenderFacts {
  switch (observation.kind) {
    case 'shared':
      return { ...sender, isDraining: observation.isBeyondShare };
    case 'balance': {
      const { isStarved, paymentsLeft } = observation;
      return { ...sender, isStarved, paymentsLeft };
    }
    case 'foreign_key':
      return { ...sender, isStopped: true };
    case 'signer_asked':
      return { ...sender, isSignerAsked: true };
    case 'signer_answered':
      return { ...sender, isSignerAsked: false };
    default:
      return assertNever(observation);
  }
}

export function statusOf(
  { isStopped, isDraining, isStarved }: SenderFacts,
  open: ReadonlyMap<bigint, Pick<OpenTransaction, 'wanted'>>,
): SenderStatus {
  if (isStopped) return 'stopped';
  if (isDraining) return 'draining';
  if (isStarved) return 'starved';
  if ([...open.values()].some(({ wanted }) => wanted !== null)) return 'asking_signer';
  return open.size > 0 ? 'working' : 'idle';
}

export function takesWork(status: SenderStatus): boolean {
  return status === 'idle' || status === 'working';
}
