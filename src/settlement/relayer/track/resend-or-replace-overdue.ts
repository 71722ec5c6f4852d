import { assertNever, present } from '#core/assert.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { updateIncluded } from '#settlement/relayer/jobs/transaction-queries.ts';
import {
  askElsewhere,
  broadcast,
  storeOffer,
} from '#settlement/relayer/send/sign-and-broadcast.ts';
import { lookAtNonce } from '#settlement/relayer/senders/detect-foreign-key-use.ts';
import { fillGap, loadOpen, surestNonce } from '#settlement/relayer/senders/repair-nonces.ts';
import { nowOf } from '#settlement/relayer/state-machine/chain-view.ts';
import {
  firstEffects,
  isDue,
  isOnItsWay,
} from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  type HeldSender,
  inNonceOrder,
  type Owing,
  type RelayerState,
  stillOpen,
  type TransactionRef,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import type { Effect, Observation } from '#settlement/relayer/state-machine/transaction.ts';

/**
 * Handles transactions that should have been mined by now. Call this after the head's receipts were
 * handled.
 */
export async function handleOverdue(relayer: RelayerState, head: Block): Promise<void> {
  relayer.observeAll({ kind: 'head', number: head.number }, head);
  const now = nowOf(relayer, head);
  const due = [...relayer.senders.values()].filter((sender) =>
    [...sender.open.values()].some((transaction) => isDue(transaction, now)),
  );
  if (due.length === 0) return;
  // Read the nonces at the followed head, because a lagging node would report older ones.
  const addresses = due.map((sender) => sender.address);
  const nonces = await relayer.chain.nonces(addresses, head.number);
  for (const [index, sender] of due.entries()) {
    await handleSender(sender, present(nonces[index], 'nonce of a sender'), head);
  }
}

async function handleSender(sender: HeldSender, reported: bigint, head: Block): Promise<void> {
  const { relayer } = sender;
  const known = inNonceOrder(sender)[0]?.nonce ?? reported;
  const chainNonce = await surestNonce(sender, { reported, known });
  const now = nowOf(relayer, head);
  const open = inNonceOrder(sender);
  const unused = open.filter(({ nonce }) => nonce >= chainNonce);
  const isOverdue = unused.some((transaction) => !isOnItsWay(transaction, now));
  const owing = open.map((transaction): Owing => {
    const isNext = transaction.nonce === chainNonce;
    const observation: Observation =
      transaction.nonce < chainNonce
        ? { kind: 'nonce_used' }
        : { kind: 'nonce_unused', isNext, isOverdue };
    return sender.observe(transaction, observation, head);
  });
  const first = unused[0];
  if (isOverdue && first !== undefined && first.nonce > chainNonce) {
    // The chain has lost transactions, so send them again, and fill nonces that have no
    // transaction.
    await fillGap(sender, { from: chainNonce, to: first.nonce });
    relayer.observeAll({ kind: 'ask_again' });
    for (const transaction of await loadOpen(sender)) {
      owing.push({ sender, transaction, effects: firstEffects(transaction) });
    }
  }
  await carryOutAll(owing);
}

/**
 * Carries out the effects of observations. Database commits come first, and observing them may
 * cause more effects. Then signatures are requested, and each sender's transactions are broadcast
 * in nonce order. After a crash, work resumes from the rows.
 */
export async function carryOutAll(all: readonly Owing[]): Promise<void> {
  const outside: { sender: HeldSender; nonce: bigint; kind: Effect['kind'] }[] = [];
  for (const { sender, transaction, effects } of all) {
    const owed = [...effects];
    for (let effect = owed.shift(); effect !== undefined; effect = owed.shift()) {
      const { kind } = effect;
      if (kind === 'broadcast' || kind === 'ask_signer') {
        outside.push({ sender, nonce: transaction.nonce, kind });
      } else owed.push(...(await carryOut(sender, transaction, effect)));
    }
  }
  for (const [sender, owing] of Map.groupBy(outside, (one) => one.sender)) {
    const owes = (kind: Effect['kind']) => {
      const nonces = owing.flatMap((one) => (one.kind === kind ? [one.nonce] : []));
      return inNonceOrder(sender).filter(({ nonce }) => nonces.includes(nonce));
    };
    askElsewhere(sender, owes('ask_signer'));
    await broadcast(sender, owes('broadcast'));
  }
}

/** @returns the effects that follow. */
async function carryOut(
  sender: HeldSender,
  known: TransactionRef,
  effect: Exclude<Effect, { readonly kind: 'broadcast' | 'ask_signer' }>,
): Promise<readonly Effect[]> {
  const [transaction] = stillOpen(sender, [known]);
  if (transaction === undefined) return [];
  const { relayer } = sender;
  const fields = { sender: sender.sender, nonce: transaction.nonce };
  switch (effect.kind) {
    case 'replace':
    case 'cancel': {
      const { offer } = effect;
      const isRequeued = effect.kind === 'cancel' && effect.requeue;
      const stored = await storeOffer({ sender, transaction, offer }, isRequeued);
      if (effect.kind === 'replace') {
        relayer.log.warn('raised the fee of a stuck transaction', { ...fields, ...offer.fees });
      }
      return sender.observe(transaction, stored).effects;
    }
    case 'inspect_nonce':
      await lookAtNonce(sender, transaction);
      return [];
    case 'mark_included':
    case 'clear_included': {
      const waitsFor = effect.kind === 'mark_included' ? effect.waitsFor : null;
      await updateIncluded(relayer.db, { id: transaction.id, waitsFor }, relayer.clock.now());
      return [];
    }
    case 'alert':
      if (effect.about === 'fee_ceiling') {
        relayer.log.error('a sender is stuck: a higher fee would exceed the fee ceiling', fields);
      }
      return [];
    // `collect-receipts.ts` reads and stores the result.
    case 'read_result':
    case 'apply_result':
    case 'drop':
      return [];
    default:
      return assertNever(effect);
  }
}
