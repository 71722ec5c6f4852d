import type { OpenTransaction } from '#settlement/relayer/state-machine/transaction.ts';

/**
 * The status of a sender, which is one address with its nonces.
 *
 * | status          | takes work | meaning                                                      |
 * |-----------------|------------|--------------------------------------------------------------|
 * | `idle`          | yes        | It has no open transaction.                                  |
 * | `working`       | yes        | It has open transactions.                                    |
 * | `asking_signer` | no         | Its remote signer must sign; other senders take payments.    |
 * | `starved`       | no         | It cannot pay for a full batch until it is funded.           |
 * | `draining`      | no         | It goes to another worker once it has no open transaction.   |
 * | `stopped`       | no         | Its key was used elsewhere (`relayer_senders.stopped_at`).   |
 *
 * The last row that applies is the status. After a crash, all but `stopped` are recomputed.
 */
export type SenderStatus =
  | 'idle'
  | 'working'
  | 'asking_signer'
  | 'starved'
  | 'draining'
  | 'stopped';

export interface SenderFacts {
  readonly isStopped: boolean;
  /**
   * True if this worker holds more senders than its share, and must release this one once it is
   * idle.
   */
  readonly isDraining: boolean;
  readonly isStarved: boolean;
  /**
   * The number of payments that the sender's balance covers at the last fees; `null` if unknown.
   */
  readonly paymentsLeft: bigint | null;
  /** True while a signing request is in progress, so that no second one is made. */
  readonly isSignerAsked: boolean;
}

/** The initial facts about a sender that was just leased; its row may add to them. */
export const NEW_SENDER: SenderFacts = {
  isStopped: false,
  isDraining: false,
  isStarved: false,
  paymentsLeft: null,
  isSignerAsked: false,
};

/** A change of a sender's facts. A stopped sender never starts again. */
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
