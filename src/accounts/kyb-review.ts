import {
  type AccountRow,
  type KybStatus,
  lockAccount,
  lockOwnAccount,
  selectAccount,
  updateAccount,
} from '#accounts/account-queries.ts';
import {
  type SubmissionRow,
  saveDetails,
  selectDocuments,
  selectSubmission,
  updateSubmission,
} from '#accounts/kyb-queries.ts';
import { actorId } from '#audit/audit.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { networkOf } from '#core/mode.ts';
import { staleVersion } from '#core/stale-version.ts';
import { stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';

function unexpected(status: KybStatus): Refusal {
  const why: Record<KybStatus, string> = {
    none: 'Nothing has been submitted yet.',
    pending: 'The submission is under review and cannot be changed now.',
    approved: 'The business is already verified.',
    rejected: 'The submission was rejected. Change it and submit it again.',
  };
  return refuse('unexpected_state', why[status]);
}

/** Renders the object of `kyb.status_changed`, in both modes (behavior.md 10.2). */
export function kybObject(
  account: Pick<AccountRow, 'id' | 'kyb_status'>,
  decision: { readonly livemode: boolean; readonly reason: string | null; readonly now: Date },
): EventDraft['object'] {
  return {
    id: account.id,
    object: 'account',
    livemode: decision.livemode,
    network: networkOf(decision.livemode),
    kyb_status: account.kyb_status,
    reason: decision.reason,
    updated: decision.now.toISOString(),
  };
}

/** Writes `kyb.status_changed` in both modes for a decision (behavior.md 10.2). */
async function announceDecision(
  tx: Tx,
  account: AccountRow,
  told: { readonly reason: string | null; readonly now: Date },
): Promise<void> {
  const { reason, now } = told;
  const tenants = [false, true].map((livemode) => ({ accountId: account.id, livemode }));
  const counts = tenants.map((tenant) => ({ tenant, count: 1 }));
  const stampOf = await stampOrders(tx, counts, now);
  await appendEvents(
    tx,
    tenants.map((tenant) => ({
      tenant,
      type: 'kyb.status_changed',
      objectId: account.id,
      object: kybObject(account, { livemode: tenant.livemode, reason, now }),
      stamp: stampOf(tenant),
    })),
  );
}

/** Moves the account to the next state, with an audit log entry and, for a decision, events. */
async function moveTo(
  tx: Tx,
  ref: AccountRef,
  change: {
    readonly account: AccountRow;
    readonly status: KybStatus;
    readonly reason: string | null;
  },
): Promise<AccountRow> {
  const { account, status, reason } = change;
  const { now } = ref;
  const rows = await updateAccount(tx, account, { kyb_status: status });
  const after = only(rows, 'account');
  if (status !== 'pending') await announceDecision(tx, after, { reason, now });
  await recordAccountChange(tx, ref, {
    action: 'kyb.status_changed',
    before: { kyb_status: account.kyb_status },
    after: { kyb_status: status, reason },
  });
  return after;
}

/** Refused once they are submitted, unless they were rejected. */
export async function saveKybDetails(
  tx: Tx,
  ref: AccountRef,
  edit: { readonly version: number; readonly details: EventDraft['object'] },
): Promise<SubmissionRow | Refusal> {
  const account = await lockOwnAccount(tx, ref.accountId);
  const { kyb_status: status } = account;
  if (status === 'pending' || status === 'approved') return unexpected(status);
  const before = await selectSubmission(tx, ref.accountId);
  if ((before?.version ?? 0) !== edit.version) return staleVersion(before?.version ?? 0);
  const { accountId, now } = ref;
  const row = { account_id: accountId, ...edit, updated: now };
  const after = only(await saveDetails(tx, row), 'submission');
  await recordAccountChange(tx, ref, {
    action: 'kyb.details_changed',
    before: before?.details ?? null,
    after: after.details,
  });
  return after;
}

export async function submitKyb(tx: Tx, ref: AccountRef): Promise<AccountRow | Refusal> {
  const account = await lockOwnAccount(tx, ref.accountId);
  const { kyb_status: status } = account;
  if (status === 'pending' || status === 'approved') return unexpected(status);
  const submission = await selectSubmission(tx, ref.accountId);
  if (submission === undefined) return unexpected('none');
  if ((await selectDocuments(tx, ref.accountId)).length === 0) {
    return refuse('unexpected_state', 'Upload at least one document first.');
  }
  const undecided = { decided_at: null, decided_by: null, decision_reason: null };
  const submitted = { submitted_at: ref.now, updated: ref.now, ...undecided };
  await updateSubmission(tx, ref.accountId, submitted);
  return moveTo(tx, ref, { account, status: 'pending', reason: null });
}

function decisionMail(accountName: string, approved: boolean, reason: string | null) {
  if (approved) {
    return {
      subject: `${accountName} is verified`,
      text:
        'Your business is verified. You can now create live keys and live terminals, and ' +
        'go live.\n',
    };
  }
  return {
    subject: `${accountName} could not be verified`,
    text:
      `Your business could not be verified: ${reason ?? ''}\n\n` +
      'Complete your details and submit them again.\n',
  };
}

/** Returns the reason why the business cannot be approved now; `null` if it can. */
export async function mayNotApprove(tx: Tx, accountId: string): Promise<Refusal | null> {
  const account = await selectAccount(tx, accountId);
  if (account === undefined) return refuse('resource_missing', 'No such account.', 'account');
  return account.kyb_status === 'pending' ? null : unexpected(account.kyb_status);
}

/**
 * An approval enables live mode; a rejection, even of an approved business, disables it. Existing
 * live keys then return `kyb_required` for new payments.
 */
export async function decideKyb(
  tx: Tx,
  ref: AccountRef & { readonly secretKey: Buffer },
  decision: { readonly approved: boolean; readonly reason: string | null },
): Promise<AccountRow | Refusal> {
  const account = await lockAccount(tx, ref.accountId);
  if (account === undefined) return refuse('resource_missing', 'No such account.', 'account');
  const isOpen = account.kyb_status === 'pending';
  const isWithdrawal = account.kyb_status === 'approved' && !decision.approved;
  if (!isOpen && !isWithdrawal) return unexpected(account.kyb_status);
  if (!decision.approved && decision.reason === null) {
    return refuse('parameter_missing', 'reason is required when you reject.', 'reason');
  }
  const { accountId, now, secretKey } = ref;
  const { reason, approved } = decision;
  await updateSubmission(tx, accountId, {
    decided_at: now,
    decided_by: actorId(ref.actor),
    decision_reason: reason,
    updated: now,
  });
  for (const to of await selectOwnerEmails(tx, accountId)) {
    await queueMail(tx, secretKey, { to, ...decisionMail(account.name, approved, reason), now });
  }
  return moveTo(tx, ref, { account, status: approved ? 'approved' : 'rejected', reason });
}
