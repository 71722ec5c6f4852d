import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import { selectAccountsOf } from '#people/membership-queries.ts';
import { selectOrganizationsOf } from '#people/organizations.ts';
import { selectPasskeys } from '#people/passkey-queries.ts';
import {
  selectActionsOf,
  selectDevicesOf,
  selectInvitationsTo,
  selectPerson,
} from '#people/personal-data-queries.ts';
import { countRecoveryCodes } from '#people/second-factor-queries.ts';
import { selectSessionsOf } from '#people/session-queries.ts';

/** Maximum number of audit log entries in one export: enough for years of daily work. */
export const MAX_ACTIONS = 10_000;

/** Returns all stored data about a person, without secrets and their hashes. */
export async function exportPerson(
  db: Database,
  filter: { readonly userId: string; readonly now: Date },
) {
  const { userId } = filter;
  const person = present(await selectPerson(db, userId), 'user');
  const [accounts, organizations, sessions, devices, passkeys, codes, invitations, actions] =
    await Promise.all([
      selectAccountsOf(db, userId),
      selectOrganizationsOf(db, userId),
      selectSessionsOf(db, filter),
      selectDevicesOf(db, userId),
      selectPasskeys(db, userId),
      countRecoveryCodes(db, userId),
      selectInvitationsTo(db, person.email),
      selectActionsOf(db, { userId, limit: MAX_ACTIONS }),
    ]);
  const { id, email, name, created, totp_confirmed_at } = person;
  return {
    object: 'personal_data',
    exported_at: filter.now,
    user: { id, email, name, created, totp_confirmed_at, recovery_codes_left: codes },
    accounts: accounts.map((row) => ({ id: row.account_id, name: row.name, role: row.role })),
    organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
    sessions,
    devices,
    passkeys: passkeys.map(({ id, name, created, last_used_at }) => {
      return { id, name, created, last_used_at };
    }),
    invitations,
    actions,
  };
}
