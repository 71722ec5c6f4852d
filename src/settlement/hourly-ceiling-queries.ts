import type { Tenant } from '#core/mode.ts';
import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';

/** SQL: the UTC clock hour of a block's time. The contract's ceiling applies per clock hour. */
export function hourOf(time: string): string {
  return `to_timestamp(floor(extract(epoch from ${time}) / 3600) * 3600)`;
}

const SALES = columnsFrom(1, {
  livemode: 'boolean',
  account_id: 'text',
  mined_at: 'timestamptz',
  amount: 'bigint',
});

const COUNT_SALES = `
  insert into ceiling_uses as u (livemode, account_id, hour, amount)
  select distinct on (1, 2) livemode, account_id, ${hourOf('mined_at')} as hour, sum(amount)
  from ${SALES.table('t')} group by 1, 2, 3 order by 1, 2, 3 desc
  on conflict (livemode, account_id) do update
  set amount = excluded.amount + case when u.hour = excluded.hour then u.amount else 0 end,
    hour = excluded.hour
  where u.hour <= excluded.hour`;

/** Adds settled sales to the hour of their block. Sales of past hours are ignored. */
export async function countSales(
  tx: Tx,
  sales: readonly {
    readonly tenant: Tenant;
    /** The time of the block that contains the sale. */
    readonly minedAt: Date;
    readonly amount: bigint;
  }[],
): Promise<void> {
  if (sales.length === 0) return;
  const rows = sales.map(({ tenant, minedAt, amount }) => ({
    livemode: tenant.livemode,
    account_id: tenant.accountId,
    mined_at: minedAt,
    amount,
  }));
  await SALES.run(tx, COUNT_SALES, { rows });
}

/**
 * Reads, in one snapshot, the sum that each account has settled this hour or has in progress.
 * @returns one entry per account, in the given order.
 */
export async function selectUses(
  sql: Sql,
  requests: readonly { readonly tenant: Tenant }[],
): Promise<bigint[]> {
  const rows = await sql.query<{ amount: bigint }>(
    `select coalesce((select u.amount from ceiling_uses u
         where u.livemode = o.livemode and u.account_id = o.account_id
           and u.hour = ${hourOf('now()')}), 0)::bigint
       + coalesce((select sum(i.amount + coalesce((i.attempt ->> 'tip')::bigint, 0))
         from payment_intents i
         where i.account_id || '' = o.account_id and i.livemode = o.livemode
           and i.status = 'processing'), 0)::bigint as amount
     from unnest($1::text[], $2::boolean[])
       with ordinality as o (account_id, livemode, place)
     order by o.place`,
    [requests.map(({ tenant }) => tenant.accountId), requests.map(({ tenant }) => tenant.livemode)],
  );
  return rows.map(({ amount }) => amount);
}

/** Stores the contract's hourly ceiling, and the sum that was settled in the hour of `headTime`. */
export async function updateCeiling(
  sql: Sql,
  livemode: boolean,
  ceiling: { readonly perHour: bigint; readonly settled: bigint; readonly headTime: Date },
): Promise<void> {
  await sql.query(
    `update network_states set ceiling_per_hour = $2, ceiling_settled = $3,
       ceiling_hour = ${hourOf('$4::timestamptz')}
     where livemode = $1`,
    [livemode, ceiling.perHour, ceiling.settled, ceiling.headTime],
  );
}

export interface CeilingUser {
  readonly account: string;
  readonly name: string;
  readonly amount: bigint;
}

/** Returns the accounts with the largest sums settled in the hour that contains `at`. */
export async function selectLargestUsers(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly at: Date; readonly limit: number },
): Promise<CeilingUser[]> {
  return sql.query(
    `select u.account_id as account, a.name, u.amount
     from ceiling_uses u join accounts a on a.id = u.account_id
     where u.livemode = $1 and u.hour = ${hourOf('$2::timestamptz')}
     order by u.amount desc, u.account_id limit $3`,
    [filter.livemode, filter.at, filter.limit],
  );
}

/** Returns the accounts whose share an operator has set. They are few. */
export async function selectOwnShares(
  sql: Sql,
): Promise<{ readonly id: string; readonly ceiling_share: number }[]> {
  return sql.query('select id, ceiling_share from accounts where ceiling_share is not null');
}
