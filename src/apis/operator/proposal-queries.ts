import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { BEHIND_ALL_IDS } from '#db/paging.ts';
import { as, type Joined, type Row, table } from '#db/table.ts';
import { users } from '#people/user-queries.ts';

export const PROPOSAL_KINDS = [
  'block_payer',
  'unblock_payer',
  'pause',
  'unpause',
  'change_rates',
  'accept_foreign',
  'refuse_foreign',
  'approve_account',
  'disable_account',
  'enable_account',
  'rename_account',
  'make_operator',
] as const;
export type ProposalKind = (typeof PROPOSAL_KINDS)[number];

export const operatorProposals = table('operator_proposals', {
  id: 'text',
  kind: as<ProposalKind>('text'),
  livemode: 'boolean',
  subject: 'text',
  payload: as<{ readonly [key: string]: number }>('jsonb'),
  reason: 'text',
  status: as<'open' | 'approved' | 'rejected'>('text'),
  proposed_by: 'text',
  created: 'timestamptz',
  expires_at: 'timestamptz',
  decided_by: 'text?',
  decided_at: 'timestamptz?',
  decision_reason: 'text?',
});

const PROPOSER = users.pick({ proposed_by_email: 'email' }, 'u');
const DECIDER = users.pick({ decided_by_email: 'email' }, 'd');

export type ProposalRow = Row<typeof operatorProposals> &
  Row<typeof PROPOSER> &
  Joined<Row<typeof DECIDER>>;

const COLUMNS = `${operatorProposals.of('p')}, ${PROPOSER}, ${DECIDER}`;
const FROM = `operator_proposals p join users u on u.id = p.proposed_by
  left join users d on d.id = p.decided_by`;

/** Returns the open, unexpired proposal about the same subject; undefined if there is none. */
export async function selectOpenProposal(
  sql: Sql,
  filter: Pick<ProposalRow, 'kind' | 'livemode' | 'subject'> & { readonly now: Date },
): Promise<ProposalRow | undefined> {
  const rows = await sql.query<ProposalRow>(
    `select ${COLUMNS} from ${FROM}
     where p.status = 'open' and p.kind = $1 and p.livemode = $2 and p.subject = $3
       and p.expires_at > $4`,
    [filter.kind, filter.livemode, filter.subject, filter.now],
  );
  return rows[0];
}

export async function selectProposal(sql: Sql, id: string): Promise<ProposalRow | undefined> {
  const rows = await sql.query<ProposalRow>(`select ${COLUMNS} from ${FROM} where p.id = $1`, [id]);
  return rows[0];
}

export async function lockProposal(tx: Tx, id: string): Promise<ProposalRow | undefined> {
  await tx.query('select 1 from operator_proposals where id = $1 for update', [id]);
  return selectProposal(tx, id);
}

export async function selectProposals(
  sql: Sql,
  filter: {
    readonly open: boolean;
    readonly before: string | null;
    readonly limit: number;
    now: Date;
  },
): Promise<ProposalRow[]> {
  return sql.query(
    `select ${COLUMNS} from ${FROM}
     where p.id < $1
       and (not $2 or (p.status = 'open' and p.expires_at > $3))
     order by p.id desc limit $4`,
    [filter.before ?? BEHIND_ALL_IDS, filter.open, filter.now, filter.limit],
  );
}

export async function decideProposal(
  tx: Tx,
  id: string,
  decision: Pick<ProposalRow, 'status' | 'decided_by' | 'decision_reason' | 'decided_at'>,
): Promise<void> {
  const { status, decided_by, decision_reason, decided_at } = decision;
  const set = { status, decided_by, decision_reason, decided_at };
  const open = { where: `id = $1 and status = 'open'`, values: [id] };
  only(await operatorProposals.update(tx, set, open), 'open proposal');
}

/**
 * Locks proposals and decisions, and returns true if this operator works alone: no other operator
 * is active, and none was removed since `since`. With `inSandbox`, a colleague counts only once a
 * second factor is set up: the sandbox's second operator, who demonstrates two-person approval,
 * must not stop the first from working alone.
 */
export async function lockWorksAlone(
  tx: Tx,
  filter: { readonly userId: string; readonly since: Date; readonly inSandbox: boolean },
): Promise<boolean> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('operator proposals'))`);
  const rows = await tx.query<{ alone: boolean }>(
    `select not exists (
       select from users u where realm = 'operator' and status = 'active'
         and staff_role = 'operator' and id <> $1
         and (not $3 or totp_confirmed_at is not null
           or exists (select from passkeys p where p.user_id = u.id))
     ) and not exists (
       select from audit_log where chain = 'network' and created >= $2
         and actor ->> 'type' = 'operator'
         and action in ('operator.disabled', 'operator.role_changed')
     ) as alone`,
    [filter.userId, filter.since, filter.inSandbox],
  );
  return rows[0]?.alone ?? false;
}
