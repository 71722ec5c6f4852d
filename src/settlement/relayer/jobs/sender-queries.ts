import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { HeldSender } from '#settlement/relayer/state-machine/relayer-state.ts';
import { relayerSenders, type SenderRow } from '#settlement/sender-rows.ts';

// Leases use the database's clock, which all workers share.

interface Worker {
  readonly livemode: boolean;
  readonly owner: string;
}

/** The senders that a worker has leased, with the fencing token of each. */
interface Leases extends Worker {
  readonly senders: readonly number[];
  readonly fencingTokens: readonly bigint[];
}

export function leasesOf(
  { livemode, owner }: Worker,
  held: readonly Pick<HeldSender, 'sender' | 'fencingToken'>[],
): Leases {
  const senders = held.map(({ sender }) => sender);
  return { livemode, owner, senders, fencingTokens: held.map(({ fencingToken }) => fencingToken) };
}

/** Adds the worker, drops those unseen for `forgetMs`, and returns how many share the senders. */
export async function upsertWorker(
  tx: Tx,
  worker: Worker & { readonly forgetMs: number },
): Promise<number> {
  const rows = await tx.query<{ workers: number }>(
    `with gone as (
       delete from relayer_workers
       where livemode = $1 and seen_at < now() - $3 * interval '1 millisecond' and owner <> $2
       returning shares_senders
     ), seen as (
       insert into relayer_workers (livemode, owner, seen_at) values ($1, $2, now())
       on conflict (livemode, owner) do update
       set seen_at = excluded.seen_at, shares_senders = true
     )
     select (select count(*)::int from relayer_workers
             where livemode = $1 and owner <> $2 and shares_senders)
       - (select count(*)::int from gone where shares_senders) + 1 as workers`,
    [worker.livemode, worker.owner, worker.forgetMs],
  );
  return rows[0]?.workers ?? 1;
}

/**
 * Removes the worker from those that share the senders. Its report on the network is kept until it
 * expires, so payments accepted meanwhile wait for the next worker.
 */
export async function leaveSharing(sql: Sql, worker: Worker): Promise<void> {
  await sql.query(
    `update relayer_workers
     set shares_senders = false, senders = 0, funded_senders = 0, payments_left = null
     where livemode = $1 and owner = $2`,
    [worker.livemode, worker.owner],
  );
}

/**
 * A sender missing from the result is lost. Locks in the same order as the writers of results, so
 * that two statements of one worker cannot deadlock.
 */
export async function renewLeases(
  sql: Sql,
  lease: Leases & { readonly leaseMs: number },
): Promise<number[]> {
  const rows = await sql.query<{ sender: number }>(
    `update relayer_senders l
     set lease_until = now() + $5 * interval '1 millisecond'
     from (
       select m.sender from relayer_senders m
       join unnest($3::int[], $4::bigint[]) as held (sender, fencing_token)
         on m.sender = held.sender and m.fencing_token = held.fencing_token
       where m.livemode = $1 and m.lease_owner = $2
       order by m.sender for no key update of m
     ) mine
     where l.livemode = $1 and l.sender = mine.sender
     returning l.sender`,
    [lease.livemode, lease.owner, lease.senders, lease.fencingTokens.map(String), lease.leaseMs],
  );
  return rows.map((row) => row.sender);
}

/**
 * Leases senders that no other worker holds; stopped ones only if they have unfinished
 * transactions.
 */
export async function takeSenders(
  sql: Sql,
  input: Worker & {
    readonly addresses: readonly Hex[];
    readonly limit: number;
    readonly leaseMs: number;
  },
): Promise<SenderRow[]> {
  return sql.query(
    `update relayer_senders l
     set lease_owner = $2, lease_until = now() + $5 * interval '1 millisecond',
       fencing_token = l.fencing_token + 1
     from (
       select sender from relayer_senders
       where livemode = $1 and address = any($3)
         and (lease_owner is null or lease_until < now() or lease_owner = $2)
         and (stopped_at is null or exists (
           select from chain_transactions t
           where t.status in ('signed', 'mined')
             and ${checked('t.livemode = $1 and t.sender = relayer_senders.sender')}))
       order by sender limit $4 for update skip locked
     ) free
     where l.livemode = $1 and l.sender = free.sender
     returning ${relayerSenders.of('l')}, l.stopped_at is not null as stopped`,
    [input.livemode, input.owner, input.addresses, input.limit, input.leaseMs],
  );
}

export async function releaseSenders(
  sql: Sql,
  lease: Omit<Leases, 'fencingTokens'>,
): Promise<void> {
  await sql.query(
    `update relayer_senders l set lease_owner = null, lease_until = null
     from (
       select sender from relayer_senders
       where livemode = $1 and lease_owner = $2 and sender = any($3::int[])
       order by sender for no key update
     ) mine
     where l.livemode = $1 and l.sender = mine.sender`,
    [lease.livemode, lease.owner, lease.senders],
  );
}

/**
 * Locks the sender until the transaction ends, and returns its next nonce. The fencing token, not
 * the time, decides who holds the lease: a worker that took over the sender has raised it.
 * @throws SenderLost if the lease was lost, or if this process no longer knows whether its ledger
 * is complete.
 */
export async function lockHeldSender(
  tx: Tx,
  held: Pick<HeldSender, 'sender' | 'fencingToken'> & { readonly relayer: Worker },
): Promise<bigint> {
  const { sender, fencingToken } = held;
  const { livemode, owner } = held.relayer;
  if (!tx.watch.signs(livemode)) throw new SenderLost(sender);
  const [row] = await tx.query<{ next_nonce: bigint }>(
    `select next_nonce from relayer_senders
     where livemode = $1 and sender = $2 and lease_owner = $3 and fencing_token = $4 for update`,
    [livemode, sender, owner, fencingToken],
  );
  if (row === undefined) throw new SenderLost(sender);
  return row.next_nonce;
}

/**
 * Locks the leases of these senders against changes until the transaction ends.
 * @throws SenderLost if another worker has taken one of them.
 */
export async function shareHeldSenders(tx: Tx, held: Leases): Promise<void> {
  const rows = await tx.query<{ sender: number }>(
    `select l.sender from relayer_senders l
     join unnest($3::int[], $4::bigint[]) as held (sender, fencing_token)
       on l.sender = held.sender and l.fencing_token = held.fencing_token
     where l.livemode = $1 and l.lease_owner = $2
     order by l.sender for share of l`,
    [held.livemode, held.owner, held.senders, held.fencingTokens.map(String)],
  );
  const lost = held.senders.find((sender) => rows.every((row) => row.sender !== sender));
  if (lost !== undefined) throw new SenderLost(lost);
}

/** Thrown when a lease was lost, so that this process's memory of the sender is invalid. */
export class SenderLost extends Error {
  override name = 'SenderLost';
  readonly sender: number;

  constructor(sender: number) {
    super(`sender ${sender} belongs to another worker now`);
    this.sender = sender;
  }
}

/**
 * Runs the writes in one transaction, if this process still holds the sender's lease. `nonce` is
 * the sender's next nonce.
 * @throws SenderLost
 */
export async function inSender<T>(
  sender: HeldSender,
  work: (tx: Tx, nonce: bigint) => Promise<T>,
): Promise<T> {
  return sender.relayer.db.transaction(async (tx) => work(tx, await lockHeldSender(tx, sender)));
}
