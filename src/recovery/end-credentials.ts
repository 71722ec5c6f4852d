import type { Tx } from '#db/database.ts';
import { stepAt } from '#payers/check-rotating-code.ts';
import { noteCopiesInDoubt } from '#payers/pass-copy-queries.ts';
import { newestTotpStep } from '#people/second-factor.ts';

/** Number of ended credentials per kind, for `admin -- after-restore`. */
export type EndedCredentials = Readonly<Record<string, number>>;

export interface Ending {
  readonly livemode: boolean;
  /** When the loss was detected. Credentials created later stay valid. */
  readonly before: Date;
  readonly now: Date;
}

type Values = readonly unknown[];

/**
 * Statements by kind of credential. Each ends the credentials of one network and returns a row for
 * each.
 */
const OF_NETWORK: Readonly<Record<string, readonly [string, (ending: Ending) => Values]>> = {
  'agent tokens': [
    `update agent_tokens set revoked_at = $3
     where livemode = $1 and created < $2 and revoked_at is null and expires_at > $3
     returning 1 as ended`,
    ({ livemode, before, now }) => [livemode, before, now],
  ],
  'sessions of payers': [
    `delete from payer_sessions s using payers p
     where p.id = s.payer_id and p.livemode = $1 and s.created < $2 returning 1 as ended`,
    ({ livemode, before }) => [livemode, before],
  ],
  'codes of passes': [
    `update pass_codes c set expires_at = $2 from passes p, payers y
     where p.id = c.pass_id and y.id = p.payer_id and y.livemode = $1 and c.created < $2
       and c.used_at is null and c.expires_at > $2
     returning 1 as ended`,
    ({ livemode, before }) => [livemode, before],
  ],
  // Codes shown in the lost period may have been used, so only later codes remain valid.
  'rotating codes of passes': [
    `update rotating_keys r set lost_step = greatest(r.lost_step, $3::bigint)
     from passes p, payers y
     where p.id = r.pass_id and y.id = p.payer_id and y.livemode = $1 and r.created < $2
       and r.lost_step < $3::bigint
     returning 1 as ended`,
    ({ livemode, before }) => [livemode, before, stepAt(before)],
  ],
  // Stored counters may be outdated, and a card reveals its counter only at its next tap.
  'cards that paid without confirmation': [
    `update cards c set asks_since = $3 from payers y
     where y.id = c.payer_id and y.livemode = $1 and c.created < $2 and c.revoked_at is null
       and c.asks_since is null
     returning 1 as ended`,
    ({ livemode, before, now }) => [livemode, before, now],
  ],
  // The nonces that a Google phone used in the lost period are unknown, and a confirmation does not
  // reveal them. Each of its taps needs a confirmation until the pass is added to the phone again,
  // which creates a new value. An Apple phone's message contains the time instead.
  'phone passes whose taps may have been used': [
    `update phone_passes f set doubted_at = $3 from passes p, payers y
     where p.id = f.pass_id and y.id = p.payer_id and y.livemode = $1 and f.created < $2
       and (f.doubted_at is null or f.doubted_at < $2)
     returning 1 as ended`,
    ({ livemode, before, now }) => [livemode, before, now],
  ],
  'pairing codes': [
    `delete from pairing_codes c using terminals t
     where t.id = c.terminal_id and t.livemode = $1 returning 1 as ended`,
    ({ livemode }) => [livemode],
  ],
  // A PIN or a membership may have changed in the lost period, so each cashier must sign in again
  // with the PIN.
  'shifts of tills': [
    `update shifts s set pin_id = null
     from terminals t
     join account_modes m on m.account_id = t.account_id and m.livemode = t.livemode
     where t.id = s.terminal_id and t.livemode = $1 and s.ended_at is null and s.pin_id is not null
       and s.started_at < $2::timestamptz + m.ahead_seconds * interval '1 second'
     returning 1 as ended`,
    ({ livemode, before }) => [livemode, before],
  ],
  'codes of managers': [
    `update manager_codes set used_at = $3
     where livemode = $1 and created < $2 and used_at is null and expires_at > $3
     returning 1 as ended`,
    ({ livemode, before, now }) => [livemode, before, now],
  ],
};

/** Statements by kind of credential, for people and wallets, which belong to no network. */
const OF_PEOPLE: Readonly<Record<string, readonly [string, (ending: Ending) => Values]>> = {
  'sign-in messages of payers': [
    'delete from payer_nonces where created < $1 returning 1 as ended',
    ({ before }) => [before],
  ],
  'sessions of people': [
    'delete from sessions where created < $1 returning 1 as ended',
    ({ before }) => [before],
  ],
  'devices known from a sign-in': [
    'delete from known_devices where created < $1 returning 1 as ended',
    ({ before }) => [before],
  ],
  'links in mails': [
    `update email_tokens set used_at = $2
     where created < $1 and used_at is null and expires_at > $2 returning 1 as ended`,
    ({ before, now }) => [before, now],
  ],
  'links that stop payouts': [
    `update payout_hold_links set used_at = $2
     where created < $1 and used_at is null and expires_at > $2 returning 1 as ended`,
    ({ before, now }) => [before, now],
  ],
  'links about second factors': [
    `update person_links set used_at = $2
     where created < $1 and used_at is null and expires_at > $2 returning 1 as ended`,
    ({ before, now }) => [before, now],
  ],
  invitations: [
    `update invitations set revoked_at = $2
     where created < $1 and accepted_at is null and revoked_at is null and expires_at > $2
     returning 1 as ended`,
    ({ before, now }) => [before, now],
  ],
  'recovery codes': [
    `update recovery_codes set used_at = $2 where created < $1 and used_at is null
     returning 1 as ended`,
    ({ before, now }) => [before, now],
  ],
  'passkey challenges': ['delete from passkey_challenges returning 1 as ended', () => []],
};

/** Invalidates codes of authenticator apps that may have been used in the lost period. */
async function voidShownCodes(tx: Tx, { before }: Ending): Promise<void> {
  await tx.query(
    `update users set totp_last_step = greatest(totp_last_step, $1::bigint)
     where totp_confirmed_at is not null`,
    [newestTotpStep(before)],
  );
}

/** Asks people without recovery codes to create new ones. */
async function askForNewCodes(tx: Tx): Promise<void> {
  await tx.query(
    `update users u set recovery_codes_saved_at = null
     where recovery_codes_saved_at is not null and not exists (
       select from recovery_codes c where c.user_id = u.id and c.used_at is null)`,
  );
}

/**
 * Ends every credential that may have been used, revoked or ended in the lost period: tokens,
 * one-time codes, links, invitations, remembered devices and sessions.
 */
export async function endCredentials(tx: Tx, ending: Ending): Promise<EndedCredentials> {
  const ended: Record<string, number> = {};
  for (const [kind, [text, values]] of Object.entries({ ...OF_NETWORK, ...OF_PEOPLE })) {
    const { length } = await tx.query(text, values(ending));
    if (length > 0) ended[kind] = length;
  }
  await voidShownCodes(tx, ending);
  await askForNewCodes(tx);
  await noteCopiesInDoubt(tx, ending);
  return ended;
}
