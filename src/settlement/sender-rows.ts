import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { SenderRole } from '#settlement/network-config.ts';

/** Processes without a relayer also read senders, raise their nonces and stop them. */
export const relayerSenders = table('relayer_senders', {
  sender: 'int',
  role: as<SenderRole>('text'),
  address: as<Hex>('text'),
  next_nonce: 'bigint',
  fencing_token: 'bigint',
});

/** A stopped sender takes no new work, because its key was used elsewhere. */
export type SenderRow = Row<typeof relayerSenders> & { stopped: boolean };

export async function selectSenders(tx: Sql, livemode: boolean): Promise<SenderRow[]> {
  return tx.query(
    `select ${relayerSenders.columns}, stopped_at is not null as stopped
     from relayer_senders where livemode = $1 order by sender`,
    [livemode],
  );
}

/** Raises the next nonce, because the chain has used more nonces than we know. */
export async function raiseNextNonce(
  tx: Tx,
  sender: { readonly livemode: boolean; readonly sender: number; readonly nextNonce: bigint },
): Promise<void> {
  await tx.query(
    `update relayer_senders set next_nonce = greatest(next_nonce, $3)
     where livemode = $1 and sender = $2`,
    [sender.livemode, sender.sender, sender.nextNonce],
  );
}

/**
 * Stops a sender whose key was used elsewhere. Its next nonce is raised above the foreign
 * transactions' nonces, so that no transaction of ours waits for a used nonce.
 */
export async function stopSender(
  tx: Tx,
  sender: { readonly livemode: boolean; readonly address: string; readonly nextNonce: bigint },
  now: Date,
): Promise<number | null> {
  const rows = await tx.query<{ sender: number }>(
    `update relayer_senders set stopped_at = coalesce(stopped_at, $4),
       next_nonce = greatest(next_nonce, $3)
     where livemode = $1 and lower(address) = lower($2) returning sender`,
    [sender.livemode, sender.address, sender.nextNonce, now],
  );
  return rows[0]?.sender ?? null;
}

/** The key of an advisory lock, different from all others (test/tidy.test.ts). */
const CONFIGURE_LOCK = 7_218_344_191;

/** Makes processes that start configure senders one after another. Leases are not blocked. */
export async function lockConfiguration(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [CONFIGURE_LOCK]);
}

/** A new address gets the next sender number; a known address keeps its number and nonce. */
export async function upsertSender(
  tx: Tx,
  sender: Pick<SenderRow, 'role' | 'address'> & { livemode: boolean; nextNonce: bigint },
): Promise<void> {
  await tx.query(
    `insert into relayer_senders (livemode, sender, role, address, next_nonce)
     select $1, coalesce(max(sender) + 1, 0), $2, $3, $4 from relayer_senders where livemode = $1
     on conflict (livemode, address) do update set role = excluded.role`,
    [sender.livemode, sender.role, sender.address, sender.nextNonce],
  );
}

/** Counts a sender's transactions that are not final, which only its own key can send again. */
export async function countUnfinished(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly sender: number },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select count(*)::int as count from chain_transactions
     where status in ('signed', 'mined') and ${checked('livemode = $1 and sender = $2')}`,
    [filter.livemode, filter.sender],
  );
  return rows[0]?.count ?? 0;
}
