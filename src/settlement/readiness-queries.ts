import type { Sql } from '#db/database.ts';
import type { Ceiling } from '#settlement/hourly-ceiling-and-shares.ts';
import { hourOf } from '#settlement/hourly-ceiling-queries.ts';

export interface WorkerReport {
  /** The reasons why this worker currently settles nothing. */
  readonly reasons: readonly ('no_node' | 'clock' | 'paused' | 'recovering')[];
  /** Operator senders that it holds. */
  readonly senders: number;
  readonly fundedSenders: number;
  /** The number of payments that the senders can pay for; `null` if unknown, or if gas is free. */
  readonly paymentsLeft: number | null;
  /** The number of the network's contracts that the worker's settings name. */
  readonly contracts: number;
  /** True if one of the worker's own keys can sign deployments of payers' wallets. */
  readonly deploysWallets: boolean;
}

/** A new worker gets no senders yet. */
export async function upsertReport(
  sql: Sql,
  worker: { readonly livemode: boolean; readonly owner: string },
  report: WorkerReport,
): Promise<void> {
  await sql.query(
    `insert into relayer_workers
       (livemode, owner, seen_at, shares_senders, reasons, senders, funded_senders, payments_left,
        contracts, deploys_wallets)
     values ($1, $2, now(), false, $3, $4, $5, $6, $7, $8)
     on conflict (livemode, owner) do update
     set seen_at = excluded.seen_at, reasons = excluded.reasons, senders = excluded.senders,
       funded_senders = excluded.funded_senders, payments_left = excluded.payments_left,
       contracts = excluded.contracts, deploys_wallets = excluded.deploys_wallets`,
    [
      worker.livemode,
      worker.owner,
      report.reasons,
      report.senders,
      report.fundedSenders,
      report.paymentsLeft,
      report.contracts,
      report.deploysWallets,
    ],
  );
}

/** True if every worker seen within `goneMs` knows this version of the contract. */
export async function allWorkersKnow(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly contractVersion: number; readonly goneMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `select from relayer_workers where livemode = $1 and contracts <= $2
       and seen_at > now() - $3 * interval '1 millisecond' limit 1`,
    [filter.livemode, filter.contractVersion, filter.goneMs],
  );
  return rows.length === 0;
}

/**
 * False if all workers seen within `goneMs` have their keys in remote signers, which sign no
 * deployments of payers' wallets.
 */
export async function workersDeploy(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly goneMs: number },
): Promise<boolean> {
  const [row] = await sql.query<{ deploys: boolean | null }>(
    `select bool_or(deploys_wallets) as deploys from relayer_workers
     where livemode = $1 and seen_at > now() - $2 * interval '1 millisecond'`,
    [filter.livemode, filter.goneMs],
  );
  return row?.deploys !== false;
}

export interface NetworkRow {
  /** The contract's hourly ceiling; `null` if no worker has read it yet. */
  ceiling: Ceiling | null;
  livemode: boolean;
  recovering: boolean;
  /** True if all settling senders were stopped because their keys were used elsewhere. */
  all_stopped: boolean;
  /** The reports of workers that are running. */
  workers: Omit<WorkerReport, 'deploysWallets'>[];
}

/** Returns both networks, with the workers seen within the last `goneMs`. */
export async function selectNetworks(sql: Sql, goneMs: number): Promise<NetworkRow[]> {
  const rows = await sql.query<StateRow>(
    `select n.livemode, n.recovering, coalesce((
         select bool_and(l.stopped_at is not null) from relayer_senders l
         where l.livemode = n.livemode and l.role = 'operator'), false) as all_stopped,
       coalesce(jsonb_agg(jsonb_build_object('reasons', w.reasons, 'senders', w.senders,
         'fundedSenders', w.funded_senders, 'paymentsLeft', w.payments_left,
         'contracts', w.contracts))
         filter (where w.owner is not null), '[]') as workers,
       n.ceiling_per_hour as per_hour,
       greatest(
         case when n.ceiling_hour = ${HOUR} then n.ceiling_settled end,
         (select sum(u.amount)::bigint from ceiling_uses u
          where u.livemode = n.livemode and u.hour = ${HOUR}), 0) as settled,
       (select count(*)::int from ceiling_uses u
        where u.livemode = n.livemode and u.hour > now() - interval '1 day') as sellers
     from network_states n
     left join relayer_workers w on w.livemode = n.livemode
       and w.seen_at > now() - $1 * interval '1 millisecond'
     group by n.livemode`,
    [goneMs],
  );
  return rows.map(({ per_hour: perHour, settled, sellers, ...row }) => ({
    ...row,
    ceiling: perHour === null ? null : { perHour, settled, sellers },
  }));
}

const HOUR = hourOf('now()');

type StateRow = Omit<NetworkRow, 'ceiling'> & {
  readonly per_hour: bigint | null;
  readonly settled: bigint;
  readonly sellers: number;
};
