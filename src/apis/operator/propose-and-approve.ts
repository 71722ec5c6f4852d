import { decideName, setAccountStatus } from '#accounts/edit-account.ts';
import { decideKyb } from '#accounts/kyb-review.ts';
import {
  decideProposal,
  lockProposal,
  lockWorksAlone,
  operatorProposals,
  type ProposalKind,
  type ProposalRow,
  selectOpenProposal,
  selectProposal,
} from '#apis/operator/proposal-queries.ts';
import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { Abandon, type Tx } from '#db/database.ts';
import { updatePayerBlocked } from '#payers/payer-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { updateStaffRole } from '#people/user-queries.ts';
import { decideForeign } from '#settlement/foreign-settlement-queries.ts';
import { requestRecovery } from '#settlement/network-recovery-queries.ts';

/**
 * Time until a proposal expires: long enough for a weekend, but short enough that its reason is
 * still valid.
 */
const OPEN_MS = 3 * DAY_MS;
/**
 * For this long after a colleague's removal, the remaining operator still needs a second person.
 */
const ALONE_AFTER_MS = 7 * DAY_MS;

export interface By {
  readonly userId: string;
  readonly actor: Actor;
  readonly now: Date;
  readonly people: Pick<PeopleDeps, 'secretKey' | 'factorAgeMs'>;
}

/** A stored proposal: it waits for a colleague, or was carried out because there is none. */
export type Proposed = ProposalRow | Refusal | Abandon<Refusal>;

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
    auditLog: NETWORK_AUDIT_LOG,
    actor: entry.by.actor,
    action: entry.action,
    objectId: row.subject,
    livemode: row.livemode,
    before: null,
    after: { reason: entry.reason, proposal: row.id, kind: row.kind, ...row.payload },
    now: entry.by.now,
  });
}

/**
 * Carries out a change that the service can make itself. Changes of the contract are left to the
 * holder of its key.
 */
async function carryOut(tx: Tx, row: Carried, by: By): Promise<Refusal | null> {
  const { kind, subject, payload } = row;
  const { now } = by;
  if (kind === 'block_payer') await updatePayerBlocked(tx, subject, now);
  if (kind === 'unblock_payer') await updatePayerBlocked(tx, subject, null);
  if (kind === 'make_operator') await updateStaffRole(tx, { id: subject, role: 'operator' });
  const done = await changeAccount(tx, row, by);
  if (done !== null) return done;
  const decision = FOREIGN[kind];
  if (decision === undefined) return null;
  const { livemode } = row;
  const group = { accountId: subject, livemode, upTo: BigInt(payload.up_to ?? 0) };
  const decided = await decideForeign(tx, group, { decision, now });
  if (decision === 'refused' || decided === 0) return null;
  // Recovery then books the accepted settlements, as it does with lost ones.
  await requestRecovery(tx, { livemode, requestCount: null, reason: 'command', lossShown: false });
  return null;
}

type Carried = Pick<ProposalRow, 'kind' | 'livemode' | 'subject' | 'payload' | 'reason'>;

/**
 * Carries out a proposal about an account. @returns the refusal if the change is no longer
 * possible; `null` if it was made, or if the proposal is not about an account.
 */
async function changeAccount(tx: Tx, row: Carried, by: By): Promise<Refusal | null> {
  const { kind, subject: accountId, reason } = row;
  const ref = { accountId, actor: by.actor, now: by.now, secretKey: by.people.secretKey };
  const work = {
    approve_account: () => decideKyb(tx, ref, { approved: true, reason: reason || null }),
    disable_account: () => setAccountStatus(tx, ref, { status: 'disabled', reason }),
    enable_account: () => setAccountStatus(tx, ref, { status: 'active', reason }),
    rename_account: () => decideName(tx, ref, { approved: true, reason }),
  } as const;
  if (!(kind in work)) return null;
  const done = await work[kind as keyof typeof work]();
  tx.hint('deliveries', '');
  return isRefusal(done) ? done : null;
}

/**
 * Decisions about settlements that were signed with the relayer's key, but that this service did
 * not send.
 */
const FOREIGN: Readonly<Partial<Record<ProposalKind, 'accepted' | 'refused'>>> = {
  accept_foreign: 'accepted',
  refuse_foreign: 'refused',
};

/** The action in the audit log once a change of this kind was carried out or approved. */
const DONE: Readonly<Record<ProposalKind, string>> = {
  block_payer: 'payer.blocked',
  unblock_payer: 'payer.unblocked',
  pause: 'contract.pause_approved',
  unpause: 'contract.unpause_approved',
  change_rates: 'contract.rates_approved',
  accept_foreign: 'foreign_settlements.accepted',
  refuse_foreign: 'foreign_settlements.refused',
  approve_account: 'account.approved',
  disable_account: 'account.disabled',
  enable_account: 'account.enabled',
  rename_account: 'account.renamed',
  make_operator: 'operator.role_changed',
};

/**
 * If a second operator requests the same change of one of these kinds, that counts as approval,
 * because both operators saw the same page.
 */
const AGREED_BY_ASKING: readonly ProposalKind[] = [
  'approve_account',
  'disable_account',
  'enable_account',
  'rename_account',
  'make_operator',
];

/**
 * Proposes a change that a colleague must approve. If there is no other operator, carries it out
 * immediately, and the audit log records it as one person's decision. Accepting or refusing foreign
 * settlements, which may be a thief's, always needs two people.
 */
export async function propose(tx: Tx, wish: Wish, by: By): Promise<Proposed> {
  const { userId, now, people } = by;
  const since = addMs(now, -ALONE_AFTER_MS);
  const worksAlone = await lockWorksAlone(tx, {
    userId,
    since,
    inSandbox: people.factorAgeMs === 0,
  });
  const isAlone = worksAlone && FOREIGN[wish.kind] === undefined;
  const known = await selectOpenProposal(tx, { ...wish, now });
  if (known !== undefined) {
    const agrees = AGREED_BY_ASKING.includes(wish.kind) && known.proposed_by !== userId;
    const { reason } = wish;
    if (agrees) return decide(tx, { id: known.id, approves: true, reason }, by);
    return refuse('already_exists', `${known.proposed_by_email} has already proposed this change.`);
  }
  const id = newId('proposal', now);
  const status = isAlone ? 'approved' : 'open';
  const expiresAt = addMs(now, OPEN_MS);
  // If no second person is needed, the proposal is stored as approved, but without the person who
  // approved it.
  await operatorProposals.insert(tx, {
    ...{ id, status, kind: wish.kind, livemode: wish.livemode, subject: wish.subject },
    ...{ payload: wish.payload, reason: wish.reason, proposed_by: userId, created: now },
    ...{ expires_at: expiresAt, decided_at: isAlone ? now : null },
  });
  const made = present(await selectProposal(tx, id), 'proposal');
  const refused = isAlone ? await carryOut(tx, made, by) : null;
  if (refused !== null) return new Abandon(refused);
  const action = isAlone ? DONE[wish.kind] : 'proposal.created';
  await recordProposal(tx, made, { action, reason: wish.reason, by });
  return made;
}

/**
 * Stores a decision: a colleague approves, or any other operator rejects. The proposer can only
 * withdraw.
 */
export async function decide(
  tx: Tx,
  decision: { readonly id: string; readonly approves: boolean; readonly reason: string },
  by: By,
): Promise<Proposed> {
  const row = await lockProposal(tx, decision.id);
  if (row === undefined) return resourceMissing('proposal');
  if (row.status !== 'open' || row.expires_at <= by.now) {
    return refuse(
      'unexpected_state',
      'This proposal is no longer open: it was decided or has expired.',
    );
  }
  if (decision.approves && row.proposed_by === by.userId) {
    return refuse('unexpected_state', 'You made this proposal, so a colleague must approve it.');
  }
  const status = decision.approves ? 'approved' : 'rejected';
  await decideProposal(tx, decision.id, {
    status,
    decided_by: by.userId,
    decision_reason: decision.reason,
    decided_at: by.now,
  });
  const refused = decision.approves ? await carryOut(tx, row, by) : null;
  if (refused !== null) return new Abandon(refused);
  const action = decision.approves ? DONE[row.kind] : 'proposal.rejected';
  await recordProposal(tx, row, { action, reason: decision.reason, by });
  return present(await selectProposal(tx, decision.id), 'proposal');
}
