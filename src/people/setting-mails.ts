import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { MailedClass } from '#core/setting-classes.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { as, type Row, table } from '#db/table.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import type { Mailing } from '#people/people-context.ts';
import { stopLink } from '#people/person-links.ts';

/** Changed settings of live accounts that no mail has listed yet. */
export const settingChanges = table('setting_changes', {
  account_id: 'text',
  kind: as<MailedClass>('text'),
  user_id: 'text',
  object_id: 'text',
  fields: 'text[]',
  created: 'timestamptz',
});

/** Delay of the first mail, so that a page which saves its fields one by one causes one mail. */
const GATHER_MS = 2_000;
/** Accounts and kinds per round. */
const BATCH = 20;
/** Lines of a mail. A shop can change hundreds of prices in an hour. */
const MAX_LINES = 50;

const WORDS: Readonly<Record<MailedClass, { readonly subject: string; readonly what: string }>> = {
  outward: {
    subject: 'Where your Tapline account sends data, or a limit, changed',
    what: 'settings that send data or lift limits',
  },
  printed: {
    subject: 'Prices or receipts of your Tapline account changed',
    what: 'prices or what receipts show',
  },
};

interface Due {
  readonly account_id: string;
  readonly kind: MailedClass;
  readonly name: string;
}

async function selectDue(sql: Sql, now: Date): Promise<Due[]> {
  return sql.query(
    `select distinct c.account_id, c.kind, a.name
     from setting_changes c join accounts a on a.id = c.account_id
     left join setting_mails m on m.account_id = c.account_id and m.kind = c.kind
     where c.created <= $1 and (m.mailed_at is null or m.mailed_at <= $2)
     limit $3`,
    [addMs(now, -GATHER_MS), addMs(now, -HOUR_MS), BATCH],
  );
}

type Changed = Row<typeof settingChanges> & { readonly email: string };

/** @returns none if another worker has mailed this kind within the last hour */
async function takeChanges(tx: Tx, { account_id, kind }: Due, now: Date): Promise<Changed[]> {
  const taken = await tx.query(
    `insert into setting_mails as m (account_id, kind, mailed_at) values ($1, $2, $3)
     on conflict (account_id, kind) do update set mailed_at = excluded.mailed_at
       where m.mailed_at <= $4 returning 1`,
    [account_id, kind, now, addMs(now, -HOUR_MS)],
  );
  if (taken.length === 0) return [];
  return tx.query(
    `with taken as (delete from setting_changes where account_id = $1 and kind = $2
       returning ${settingChanges.columns}, id)
     select t.*, u.email from taken t join users u on u.id = t.user_id order by t.id`,
    [account_id, kind],
  );
}

/** Returns a line for each changed object, with the fields that changed. */
function linesOf(rows: readonly Changed[]): string {
  const fieldsOf = new Map<string, Set<string>>();
  for (const { object_id: id, fields } of rows) {
    fieldsOf.set(id, new Set([...(fieldsOf.get(id) ?? []), ...fields]));
  }
  const lines = [...fieldsOf].map(([id, fields]) => `* ${id}: ${[...fields].join(', ')}`);
  const left = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES), ...(left > 0 ? [`* and ${left} more`] : [])].join('\n');
}

/** Mails the owners one list of the changes, with a link for each person who made some. */
async function mailChanges(tx: Tx, people: Mailing, due: Due, now: Date): Promise<void> {
  const rows = await takeChanges(tx, due, now);
  if (rows.length === 0) return;
  const { subject, what } = WORDS[due.kind];
  for (const to of await selectOwnerEmails(tx, due.account_id)) {
    const texts: string[] = [];
    const buttons = [];
    for (const [user_id, own] of Map.groupBy(rows, (row) => row.user_id)) {
      const intro = `${own[0]?.email} changed ${what} in ${accountInMail(due.name)}`;
      const link = { user_id, account_id: due.account_id, email: to, what: `${intro}.`, now };
      const stop = await stopLink(tx, people, link);
      texts.push(`${intro}:\n\n${linesOf(own)}\n\n${stop.text}`);
      buttons.push(stop.button);
    }
    const text = `${texts.join('\n')}\nThe audit log has the values before and after.\n`;
    await queueMail(tx, people.secretKey, { to, subject, text, buttons, now });
  }
}

/**
 * Mails owners about changed settings: the first change of a kind after a few seconds, later ones
 * an hour after the last mail of that kind, all in one.
 * @returns true if there may be more
 */
export async function mailSettingChanges(
  { db, clock }: Pick<ProcessContext, 'db' | 'clock'>,
  people: Mailing,
): Promise<boolean> {
  const now = clock.now();
  const due = await selectDue(db, now);
  for (const one of due) await db.transaction((tx) => mailChanges(tx, people, one, now));
  return due.length === BATCH;
}
