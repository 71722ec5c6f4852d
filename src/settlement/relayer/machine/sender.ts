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
 * | `stopped`       | no         | Its key was used elsewhere (`relayer_senders.stopped_at`).   |
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

/** Facts that this process knows about a sender, apart from its transactions. */
export interface SenderFacts {
  readonly isStopped: boolean;
  /** True if the sender is beyond this worker's share. */
  readonly isDraining: boolean;
  readonly isStarved: boolean;
  /** Payments that its balance covers at the last fees; `null` if unknown. */
  readonly paymentsLeft: bigint | null;
  /** True while a signing request is in progress, so that no second one is made. */
  readonly isSignerAsked: boolean;
}

/** A sender that was just leased, as far as its row does not say otherwise. */
export const NEW_SENDER: SenderFacts = {
  isStopped: false,
  isDraining: false,
  isStarved: false,
  paymentsLeft: null,
  isSignerAsked: false,
};

/** A sender that is stopped never starts again. */
export type SenderChange = Partial<Omit<SenderFacts, 'isStopped'>> | { readonly isStopped: true };

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
