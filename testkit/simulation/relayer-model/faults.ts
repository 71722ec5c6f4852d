import { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  factsOf,
  newestOffer,
  type Observation,
  type OpenTransaction,
  type Step,
  type Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import type { BoundsName } from '#testkit/simulation/relayer-model/world.ts';

/**
 * A mistake planted in the relayer's step function, with a pattern for the invariant that it
 * violates and the exploration that finds it.
 */
export interface PlantedFault {
  readonly name: string;
  readonly breaks: RegExp;
  readonly bounds: BoundsName;
  readonly step: typeof step;
}

type Change = (
  after: Step,
  before: OpenTransaction,
  observation: Observation,
) => { readonly transaction: Transaction; readonly effects: Step['effects'] };

/** Returns the correct step function with a mistake added to it. */
function changed(change: Change): typeof step {
  return (transaction, observation, now) => {
    const after = step(transaction, observation, now);
    return transaction.phase === 'done' ? after : change(after, transaction, observation);
  };
}

/** Returns the step function without one kind of effect. */
function without(kind: Step['effects'][number]['kind']): typeof step {
  return changed(({ transaction, effects }) => ({
    transaction,
    effects: effects.filter((one) => one.kind !== kind),
  }));
}

/** Queues canceled jobs again too early: the old transaction may still be mined. */
const requeued = (effects: Step['effects']): Step['effects'] =>
  effects.map((one) => (one.kind === 'cancel' ? { ...one, requeue: true } : one));

export const PLANTED: readonly PlantedFault[] = [
  {
    name: 'a transaction that no node takes gives its jobs back before its cancellation is mined',
    breaks: /queued again while their bytes can still be mined/,
    bounds: 'nodes that fail',
    step: changed(({ transaction, effects }) => ({ transaction, effects: requeued(effects) })),
  },
  {
    name: 'an overdue transaction is canceled, and its jobs are sent again elsewhere',
    breaks: /queued again while their bytes can still be mined/,
    bounds: 'two transactions',
    step: changed(({ transaction, effects }, before, { kind }) => {
      if (before.phase !== 'broadcast' || kind !== 'nonce_unused') return { transaction, effects };
      const fees = { maxFeePerGas: 90n, maxPriorityFeePerGas: 9n };
      const cancel = { kind: 'cancel', offer: { cancels: true, fees }, requeue: true } as const;
      return { transaction, effects: [cancel] };
    }),
  },
  {
    name: 'the bytes of a higher offer are forgotten once they are stored',
    breaks: /memory and rows differ in bytes/,
    bounds: 'nodes that fail',
    step: changed((after, before, { kind }) =>
      kind === 'attempt_stored' ? { ...after, transaction: before } : after,
    ),
  },
  {
    name: 'jobs that are queued again stay with their transaction',
    breaks: /memory and rows differ in jobs/,
    bounds: 'a deadline',
    step: changed((after, { requests }, { kind }) =>
      kind === 'attempt_stored' && after.transaction.phase !== 'done'
        ? { ...after, transaction: { ...after.transaction, requests } }
        : after,
    ),
  },
  {
    name: 'a result counts at inclusion though blocks have to lie on top',
    breaks: /a result is written before its depth/,
    bounds: 'confirmations',
    step: changed((after, _, { kind }) =>
      kind === 'receipt' ? { ...after, effects: [{ kind: 'read_result' }] } : after,
    ),
  },
  {
    name: 'a large sum counts before its block is safe',
    breaks: /a result is written before its depth/,
    bounds: 'safe blocks',
    step: changed((after, _, { kind }) =>
      kind === 'result_read' ? { ...after, effects: [{ kind: 'apply_result' }] } : after,
    ),
  },
  {
    name: 'a transaction whose result is written stays open',
    breaks: /memory and rows differ in what is open/,
    bounds: 'reorganizations',
    step: changed((after, before, { kind }) =>
      kind === 'result_written' ? { ...after, transaction: before } : after,
    ),
  },
  {
    name: 'a signer is asked for bytes that it has given',
    breaks: /memory and rows differ in what a signer owes/,
    bounds: 'a signer',
    step: changed((after, before, { kind }) =>
      kind === 'signature_stored' && before.phase === 'unsigned'
        ? { ...after, transaction: { ...before, attempts: after.transaction.attempts } }
        : after,
    ),
  },
  {
    name: 'a receipt that is gone keeps its transaction in its block',
    breaks: /calm does not settle everything/,
    bounds: 'confirmations',
    step: changed((after, before, { kind }) =>
      kind === 'no_receipt' && (before.phase === 'included' || before.phase === 'confirming')
        ? { transaction: before, effects: [] }
        : after,
    ),
  },
  {
    name: 'the user of a nonce is never looked up',
    breaks: /calm does not settle everything/,
    bounds: 'a stolen key',
    step: without('inspect_nonce'),
  },
  {
    name: 'a signer that did not answer gets no second request',
    breaks: /calm does not settle everything/,
    bounds: 'a signer',
    step: changed((after, _, { kind }) =>
      kind === 'nonce_unused'
        ? { ...after, effects: after.effects.filter((one) => one.kind !== 'ask_signer') }
        : after,
    ),
  },
  {
    name: 'what waits for a safe block is never asked for again',
    breaks: /calm does not settle everything/,
    bounds: 'safe blocks',
    step: changed((after, _, { kind }) => {
      if (kind !== 'result_read' || after.transaction.phase !== 'confirming') return after;
      const rule = { from: 0n, waitsFor: 'finalized', ms: 0 } as const;
      return { ...after, transaction: { ...after.transaction, rule } };
    }),
  },
];

/**
 * Bugs that the relayer once had, each planted in today's step function. A name begins with the
 * commit that the bug belongs to.
 */
export const RELAPSES: readonly PlantedFault[] = [
  {
    name: '302820a5: old bytes go out while a signer is asked for a cancellation',
    breaks: /a call is sent though a cancellation was decided|were queued again/,
    bounds: 'a signer',
    step: changed((after, before, observation) => {
      const { transaction } = after;
      if (observation.kind !== 'offer_stored' || transaction.phase !== 'unsigned') return after;
      if (before.attempts.length === 0 || !observation.offer.cancels) return after;
      const { query } = transaction;
      const facts = { ...factsOf(transaction), wanted: null };
      return {
        transaction: { ...facts, phase: 'signed', overdue: 0, query },
        effects: [{ kind: 'broadcast' }],
      };
    }),
  },
  {
    name: '1763b5e7: bytes that have expired are sent again',
    breaks: /bytes are sent that the contract refuses/,
    bounds: 'a deadline',
    step: (transaction, observation, now) =>
      step(
        transaction.phase === 'done' ? transaction : { ...transaction, validUntil: null },
        observation,
        now,
      ),
  },
  {
    name: '124f93ae: a result that cannot be read is not read again',
    breaks: /calm does not settle everything/,
    bounds: 'nodes that fail',
    step: changed((after, before, { kind }) =>
      kind === 'receipt' && before.phase === 'included' ? { ...after, effects: [] } : after,
    ),
  },
  {
    name: '4f30f632: what waits in a block that is lost goes on waiting',
    breaks: /calm does not settle everything/,
    bounds: 'safe blocks',
    step: changed((after, before, { kind }) =>
      before.phase === 'confirming' && (kind === 'reorganized' || kind === 'no_receipt')
        ? { transaction: before, effects: [] }
        : after,
    ),
  },
];

/**
 * Bugs like {@link RELAPSES} that the model does not find. Some only delay settlement, and others
 * cause harm outside the model.
 */
export const IN_TABLE: readonly Pick<PlantedFault, 'name' | 'step'>[] = [
  {
    name: '551ca832: what a node lacks of what the head lists is not asked for at the next head',
    step: changed((after, _, { kind }) => {
      const { transaction } = after;
      if (kind !== 'no_receipt' || !('query' in transaction)) return after;
      return { ...after, transaction: { ...transaction, query: 'if_listed' } };
    }),
  },
  {
    name: '5be90022: blocks count from a height that was old when the bytes were sent',
    step: changed((after, before, { kind }) =>
      kind === 'head' ? { transaction: before, effects: [] } : after,
    ),
  },
  {
    name: 'c4a2c0c4: bytes that must not go out are barred until their nonce was seen used',
    step: (transaction, observation, now) =>
      step(
        transaction.phase === 'nonce_taken' ? { ...transaction, isBarred: false } : transaction,
        observation,
        now,
      ),
  },
  {
    name: 'a3a6c34d: a result whose event a node has left out counts as a failure',
    step: changed((after, _, { kind }) =>
      kind === 'result_unreadable' ? { ...after, effects: [{ kind: 'apply_result' }] } : after,
    ),
  },
  {
    name: 'e858cab9: an alarm comes after eight polls, however short the blocks are',
    step: (transaction, observation, now) => {
      const timeouts = { ...now.timeouts, unreadablePolls: 8 };
      return step(transaction, observation, { ...now, timeouts });
    },
  },
  {
    name: 'bbcce385: a higher offer takes the place of the cancellation that came before it',
    step: (transaction, observation, now) => {
      const isLate =
        transaction.phase !== 'done' &&
        newestOffer(transaction)?.cancels === true &&
        observation.kind === 'offer_stored' &&
        !observation.offer.cancels;
      if (!isLate) return step(transaction, observation, now);
      const expected = observation.offer;
      return {
        transaction: { ...transaction, wanted: expected },
        effects: [{ kind: 'ask_signer' }],
      };
    },
  },
];
