import { getAddress, isAddress } from 'viem';
import { accounts } from '#accounts/account-queries.ts';
import { present } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import { BEHIND_ALL_IDS } from '#db/paging.ts';
import type { Row } from '#db/table.ts';
import { payers } from '#payers/payer-queries.ts';

const FOUND = accounts.pick(['id', 'name', 'status', 'kyb_status', 'created']);

export type FoundAccountRow = Row<typeof FOUND>;

export async function searchAccounts(
  sql: Sql,
  filter: { readonly text: string | null; readonly before: string | null; readonly limit: number },
): Promise<FoundAccountRow[]> {
  return sql.query(
    `select ${FOUND} from accounts a
     where id < $2
       and ($1::text is null or id = $1 or starts_with(lower(name), lower($1)) or id in (
         select m.account_id from account_rights m join users u on u.id = m.user_id
         where u.realm = 'merchant' and u.email = lower($1)))
     order by id desc limit $3`,
    [filter.text, filter.before ?? BEHIND_ALL_IDS, filter.limit],
  );
}

const PAYER = payers.pick(['id', 'livemode', 'address', 'created', 'blocked_at'], 'p');

export type OperatorPayerRow = Row<typeof PAYER> & { passes: number };

/** Finds payers by ID, or by address in any case: at most one payer per address and mode. */
export async function searchPayers(sql: Sql, text: string): Promise<OperatorPayerRow[]> {
  const lower = text.toLowerCase();
  return sql.query(
    `select ${PAYER},
       (select count(*)::int from passes s where s.payer_id = p.id and s.revoked_at is null)
         as passes
     from payers p
     where p.id = $1 or (p.livemode = false and p.address = $1)
       or (p.livemode = true and p.address = $1)
     order by p.livemode`,
    [isAddress(lower) ? getAddress(lower) : text],
  );
}

export interface WaitingRow {
  readonly alarms: number;
  readonly proposals: number;
  readonly verifications: number;
}

/** Returns how much work waits for staff, in both modes together. */
export async function selectWaiting(sql: Sql, now: Date): Promise<WaitingRow> {
  const [row] = await sql.query<WaitingRow>(
    `select (select count(*)::int from chain_alarms where resolved_at is null) as alarms,
       (select count(*)::int from operator_proposals
          where status = 'open' and expires_at > $1) as proposals,
       (select count(*)::int from kyb_submissions
          where submitted_at is not null and decided_at is null) as verifications`,
    [now],
  );
  return present(row, 'what waits');
}

export interface WorkRow {
  readonly queue: string;
  readonly waiting: number;
  readonly oldest: Date | null;
}

/** Returns each queue's size, and the time of its oldest entry. */
export async function selectWork(sql: Sql): Promise<WorkRow[]> {
  return sql.query(
    `select 'webhook deliveries' as queue, count(*)::int as waiting, min(created) as oldest
       from webhook_due
     union all
     select 'mails', count(*)::int, min(created) from mail_outbox
       where sent_at is null and failed_at is null
     union all
     select 'mails given up', count(*)::int, min(created) from mail_outbox
       where failed_at is not null
     union all
     select 'business verifications', count(*)::int, min(submitted_at) from kyb_submissions
       where submitted_at is not null and decided_at is null
     union all
     select 'withdrawals', count(*)::int, min(created) from withdrawals where status = 'pending'
     union all
     select 'refunds', count(*)::int, min(created) from refunds where status = 'pending'`,
  );
}
