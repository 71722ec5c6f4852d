import { type Actor, actorId } from '#audit/audit.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import type { Sql, Tx } from '#db/database.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { queueMail } from '#people/mail-outbox.ts';
import {
  type HoldLinkAbout,
  type OwnerChangeKind,
  ownerChanges,
  payoutHoldLinks,
  selectLastOwnerChange,
} from '#people/owner-change-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';

/** Lifetime of a hold link: long enough for an owner who reads no mail during a weekend. */
const LINK_MS = 72 * HOUR_MS;
/**
 * No wallet can be announced while hold links are valid, so this delay is as long as their
 * lifetime.
 */
const WALLET_DELAY_MS = LINK_MS;

/** The path of a hold link's page. The link alone authorizes it. */
export const HOLD_PATH = '/hold-payouts';

export interface OwnerChange {
  readonly accountId: string;
  readonly accountName: string;
  readonly kind: OwnerChangeKind;
  /** The person whose ownership changes. */
  readonly email: string;
  /** Addresses of everyone who is an owner now or was one before the change. */
  readonly owners: readonly string[];
  readonly actor: Actor;
  readonly now: Date;
}

const WHAT: Record<OwnerChangeKind, (email: string) => string> = {
  invited: (email) => `${email} was invited to become an owner of`,
  joined: (email) => `${email} accepted an invitation and is now an owner of`,
  promoted: (email) => `${email} was made an owner of`,
  demoted: (email) => `${email} is no longer an owner of`,
  removed: (email) => `${email}, an owner, was removed from`,
  left: (email) => `${email}, an owner, has left`,
};

export function describeOwnerChange(kind: OwnerChangeKind, email: string): string {
  return WHAT[kind](email);
}

function by(actor: Actor): string {
  return actor.type === 'system' ? actor.name : actor.email;
}

function text(change: OwnerChange, url: string): string {
  const what = describeOwnerChange(change.kind, change.email);
  return (
    `${what} ${accountInMail(change.accountName)} on Tapline. This was done by ` +
    `${by(change.actor)}.\n\nIf this is right, nothing needs to be done. If it is not, ` +
    `open this link and click the button:\n\n${url}\n\nIt holds all payouts of the service ` +
    'until an owner lifts the hold. The link works once, for 72 hours, for this change ' +
    'only. It cannot hold what the settlement wallet withdraws by itself (withdrawOwn on ' +
    'the contract).\n'
  );
}

/**
 * Creates a link to hold the account's payouts. @returns the URL of a page whose button does that.
 */
export async function issueHoldLink(
  tx: Tx,
  people: Pick<PeopleDeps, 'webUrl'>,
  link: {
    readonly about: HoldLinkAbout;
    readonly accountId: string;
    readonly to: string;
    readonly now: Date;
  },
): Promise<string> {
  const { about, now } = link;
  const token = newSecret('holdLink');
  const wallet = 'changeId' in about ? null : about;
  await payoutHoldLinks.insert(tx, {
    hash: hashSecret(token),
    account_id: link.accountId,
    email: link.to,
    created: now,
    expires_at: addMs(now, LINK_MS),
    change_id: 'changeId' in about ? about.changeId : null,
    livemode: wallet?.livemode ?? null,
    merchant_number: wallet?.merchantNumber ?? null,
    wallet: wallet?.wallet ?? null,
  });
  return `${people.webUrl}${HOLD_PATH}/${token}`;
}

/** Records the change, and mails every previous and current owner a link that holds payouts. */
export async function noteOwnerChange(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  change: OwnerChange,
): Promise<void> {
  const { accountId, kind, email, now } = change;
  const changeId = newId('ownerChange', now);
  const changedBy = actorId(change.actor);
  await ownerChanges.insert(tx, {
    ...{ id: changeId, account_id: accountId, kind, email },
    ...{ changed_by: changedBy, created: now },
  });
  for (const to of new Set(change.owners)) {
    const subject = 'The owners of your Tapline account are changing';
    const url = await issueHoldLink(tx, people, { about: { changeId }, accountId, to, now });
    const buttons = [{ url, name: 'Hold payouts' }];
    const mail = { to, subject, text: text(change, url), buttons, now };
    await queueMail(tx, people.secretKey, mail);
  }
}

/**
 * Refuses to announce a wallet within 72 hours of a change of owners. A later check would be
 * useless: once a wallet is announced, anyone can apply it on the contract.
 */
export async function checkOwnersSettled(
  sql: Sql,
  input: { readonly accountId: string; readonly now: Date },
): Promise<Refusal | null> {
  const changed = await selectLastOwnerChange(sql, input.accountId);
  if (changed === null) return null;
  const from = addMs(changed, WALLET_DELAY_MS);
  if (from <= input.now) return null;
  return refuse(
    'unexpected_state',
    "The account's owners changed recently, so another wallet cannot be announced until " +
      `${from.toISOString()}.`,
  );
}
