import {
  decideProposal,
  insertProposal,
  lockProposal,
  lockWorksAlone,
  type ProposalKind,
  type ProposalRow,
  selectOpenProposal,
  selectProposal,
} from '#apis/operator/proposal-queries.ts';
import { type Actor, NETWORK_TRAIL, recordEntry } from '#audit/audit.ts';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { updatePayerBlocked } from '#payers/payer-queries.ts';
import { decideForeign } from '#settlement/foreign-settlement-queries.ts';
import { askForRecovery } from '#settlement/network-recovery-queries.ts';

const DAY_MS = 86_400_000;
/** Over a weekend; after that the situation is another one. */
const OPEN_MS = 3 * DAY_MS;
/** For so long after a colleague was removed, an operator does not count as the only one. */
const ALONE_AFTER_MS = 7 * DAY_MS;

/** Who does something, and when. */
export interface By {
  readonly userId: string;
  readonly actor: Actor;
  readonly now: Date;
}

export interface Wish {
  readonly kind: ProposalKind;
  readonly livemode: boolean;
  readonly subject: string;
  readonly payload: { readonly [key: string]: number };
  readonly reason: string;
}

async function recordProposal(
  tx: Tx,
  row: Pick<ProposalRow, 'id' | 'kind' | 'livemode' | 'subject' | 'payload'>,
  entry: { readonly action: string; readonly reason: string; readonly by: By },
): Promise<void> {
  await recordEntry(tx, {
    trail: NETWORK_TRAIL,
    actor: entry.by.actor,
    action: entry.action,
    objectId: row.subject,
    livemode: row.livemode,
    before: null,
    after: { reason: entry.reason, proposal: row.id, kind: row.kind, ...row.payload },
    now: entry.by.now,
  });
}

/** What the service itself can do. The contract's keys are elsewhere: their holder acts. */
async function carryOut(
  tx: Tx,
  row: Pick<ProposalRow, 'kind' | 'livemode' | 'subject' | 'payload'>,
  now: Date,
): Promise<void> {
  if (row.kind === 'block_payer') await updatePayerBlocked(tx, row.subject, now);
  if (row.kind === 'unblock_payer') await updatePayerBlocked(tx, row.subject, null);
  const decision = FOREIGN[row.kind];
  if (decision === undefined) return;
  const { livemode, subject: accountId } = row;
  const group = { accountId, livemode, upTo: BigInt(row.payload.up_to ?? 0) };
  const decided = await decideForeign(tx, group, { decision, now });
  if (decision === 'refused' || decided === 0) return;
  // Recovery books what a person has accepted, as it books what was lost.
  await askForRecovery(tx, { livemode, asked: null, reason: 'command', lossShown: false });
}

/** What was settled with a key of ours, but not by us. */
const FOREIGN: Readonly<Partial<Record<ProposalKind, 'accepted' | 'refused'>>> = {
  accept_foreign: 'accepted',
  refuse_foreign: 'refused',
};

/** What the audit log calls it when it is done. */
const DONE: Readonly<Record<ProposalKind, string>> = {
  block_payer: 'payer.blocked',
  unblock_payer: 'payer.unblocked',
  pause: 'contract.pause_approved',
  unpause: 'contract.unpause_approved',
  change_rates: 'contract.rates_approved',
  accept_foreign: 'foreign_settlements.accepted',
  refuse_foreign: 'foreign_settlements.refused',
};

/**
 * Asks a colleague to agree. Where nobody else could, it is done at once, and the audit log says
 * that it was one person's decision. Only settlements that a thief may have made always need two.
 */
export async function propose(tx: Tx, wish: Wish, by: By): Promise<ProposalRow | Refusal> {
  const { userId, now } = by;
  const since = addMs(now, -ALONE_AFTER_MS);
  const worksAlone = await lockWorksAlone(tx, { userId, since });
  const isAlone = worksAlone && FOREIGN[wish.kind] === undefined;
  const known = await selectOpenProposal(tx, { ...wish, now });
  if (known !== undefined) {
    return refuse('already_exists', `${known.proposed_by_email} has asked for the same already.`);
  }
  const id = newId('proposal', now);
  const status = isAlone ? 'approved' : 'open';
  const expiresAt = addMs(now, OPEN_MS);
  await insertProposal(tx, { ...wish, id, status, proposedBy: userId, now, expiresAt });
  const made = present(await selectProposal(tx, id), 'proposal');
  if (isAlone) await carryOut(tx, made, now);
  const action = isAlone ? DONE[wish.kind] : 'proposal.created';
  await recordProposal(tx, made, { action, reason: wish.reason, by });
  return made;
}

/** A colleague agrees, or somebody says no; the person who asked can only take it back. */
export async function decide(
  tx: Tx,
  decision: { readonly id: string; readonly approves: boolean; readonly reason: string },
  by: By,
): Promise<ProposalRow | Refusal> {
  const row = await lockProposal(tx, decision.id);
  if (row === undefined) return resourceMissing('proposal');
  if (row.status !== 'open' || row.expires_at <= by.now) {
    return refuse(
      'unexpected_state',
      'This is not open any more: somebody decided, or it expired.',
    );
  }
  if (decision.approves && row.proposed_by === by.userId) {
    return refuse('unexpected_state', 'You have asked for it, so a colleague has to agree.');
  }
  const status = decision.approves ? 'approved' : 'rejected';
  await decideProposal(tx, { ...decision, status, by: by.userId, now: by.now });
  if (decision.approves) await carryOut(tx, row, by.now);
  const action = decision.approves ? DONE[row.kind] : 'proposal.rejected';
  await recordProposal(tx, row, { action, reason: decision.reason, by });
  return present(await selectProposal(tx, decision.id), 'proposal');
}
