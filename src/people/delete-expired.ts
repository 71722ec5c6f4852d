import { addMs, type Clock } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import { deleteOldAttempts } from '#people/attempt-limit-queries.ts';
import { deleteExpiredDevices } from '#people/device-queries.ts';
import { deleteOldTokens } from '#people/email-token-queries.ts';
import { deleteSentMails } from '#people/mail-queries.ts';
import { deleteExpiredChallenges } from '#people/passkey-queries.ts';
import { deleteOldPersonLinks } from '#people/person-link-queries.ts';
import { deleteExpiredSessions } from '#people/session-queries.ts';

/** Rows deleted per table and round; a round takes a few milliseconds. */
const BATCH = 1_000;
/**
 * Time for which finished mails stay recorded. Their text was already deleted when they were
 * finished.
 */
const KEEP_MAILS_MS = 30 * DAY_MS;

/** Deletes expired sessions, links, challenges and counts. @returns true if there may be more. */
export async function dropExpired(deps: {
  readonly db: Database;
  readonly clock: Clock;
}): Promise<boolean> {
  const { db } = deps;
  const now = deps.clock.now();
  await deleteExpiredChallenges(db, now);
  const dropped = [
    await deleteExpiredSessions(db, now, BATCH),
    await deleteExpiredDevices(db, now, BATCH),
    await deleteOldAttempts(db, addMs(now, -DAY_MS), BATCH),
    await deleteOldTokens(db, addMs(now, -DAY_MS), BATCH),
    await deleteOldPersonLinks(db, addMs(now, -DAY_MS), BATCH),
    await deleteSentMails(db, addMs(now, -KEEP_MAILS_MS), BATCH),
  ];
  return dropped.includes(BATCH);
}
