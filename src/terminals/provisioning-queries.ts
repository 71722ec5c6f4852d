import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type TerminalRow, terminals } from '#terminals/terminal-queries.ts';

export async function selectRecoveredTerminal(
  tx: Tx,
  tenant: Tenant,
  label: string,
): Promise<TerminalRow | undefined> {
  const rest = `where account_id = $1 and livemode = $2 and label = $3 and status = 'inactive'
    order by created limit 1`;
  return terminals.find(tx, rest, [tenant.accountId, tenant.livemode, label]);
}

export async function countTerminals(sql: Sql, tenant: Tenant): Promise<number> {
  return terminals.count(sql, 'where account_id = $1 and livemode = $2', [
    tenant.accountId,
    tenant.livemode,
  ]);
}

export async function lockTerminal(
  tx: Tx,
  tenant: Tenant,
  id: string,
): Promise<TerminalRow | undefined> {
  return terminals.findOwn(tx, tenant, id, 'for update');
}

export async function updateTerminal(tx: Tx, terminal: TerminalRow): Promise<TerminalRow> {
  const { id, label, name, status, location_id, offline } = terminal;
  const { refund_limit, refund_limit_presentment } = terminal;
  const rows = await terminals.update(
    tx,
    { label, name, status, location_id, offline, refund_limit, refund_limit_presentment },
    { where: 'id = $1', values: [id], also: 'version = version + 1' },
  );
  return only(rows, 'terminal');
}

/** Updates a terminal, but keeps the version that edits check. */
export async function updateUnversioned(
  tx: Tx,
  id: string,
  set: Partial<Pick<TerminalRow, 'platform' | 'software_version' | 'smart_tap' | 'status'>>,
): Promise<TerminalRow> {
  return only(await terminals.update(tx, set, { where: 'id = $1', values: [id] }), 'terminal');
}

/** Gives the terminal's tag a new random number. */
export async function renewTag(tx: Tx, id: string): Promise<TerminalRow> {
  const which = { where: 'id = $1', values: [id], also: 'tag = gen_random_uuid()' };
  return only(await terminals.update(tx, {}, which), 'terminal');
}

export interface TaggedTerminal {
  readonly id: string;
  readonly livemode: boolean;
  readonly status: 'active' | 'inactive';
  readonly merchant_name: string;
  readonly account_status: 'active' | 'disabled';
  /** The language of the location, or else the merchant's; `null` if none was chosen. */
  readonly language: string | null;
  /** Name of the style file (see `brandStyles`); `null` if there is no logo and no color. */
  readonly brand_style: string | null;
  /** For a tag with a chip, the number from which the chip's keys are derived; otherwise `null`. */
  readonly chip: string | null;
}

export async function selectTaggedTerminal(
  sql: Sql,
  tag: string,
): Promise<TaggedTerminal | undefined> {
  const rows = await sql.query<TaggedTerminal>(
    `select t.id, t.livemode, t.status, a.name as merchant_name, a.status as account_status,
       coalesce(l.language, a.language) as language, b.style as brand_style, c.chip
     from terminals t
     join accounts a on a.id = t.account_id
     left join locations l on l.id = t.location_id
     left join account_brands b on b.account_id = t.account_id
     left join tag_chips c on c.terminal_id = t.id
     where t.tag = $1`,
    [tag],
  );
  return rows[0];
}

export async function revokeDeviceKeys(
  tx: Tx,
  which: { readonly terminalId: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    'update device_keys set revoked_at = $2 where terminal_id = $1 and revoked_at is null',
    [which.terminalId, which.now],
  );
}

/** Stores a pairing code; a terminal has at most one. */
export async function replacePairingCode(
  tx: Tx,
  code: {
    readonly hash: Buffer;
    readonly terminalId: string;
    readonly byFreshFactor: boolean;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx.query(
    `with gone as (delete from pairing_codes where terminal_id = $2)
     insert into pairing_codes (hash, terminal_id, by_fresh_factor, created, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [code.hash, code.terminalId, code.byFreshFactor, code.now, code.expiresAt],
  );
}

export interface PairingTarget extends TerminalRow {
  readonly merchant_name: string;
  readonly by_fresh_factor: boolean;
}

export async function selectPairingTarget(
  sql: Sql,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<PairingTarget | undefined> {
  const rows = await sql.query<PairingTarget>(
    `select t.*, a.name as merchant_name, p.by_fresh_factor from pairing_codes p
     join terminals t on t.id = p.terminal_id
     join accounts a on a.id = t.account_id
     where p.hash = $1 and p.expires_at > $2 and p.used_at is null`,
    [filter.hash, filter.now],
  );
  return rows[0];
}

export async function deletePairingCodes(tx: Tx, terminalId: string): Promise<void> {
  await tx.query('delete from pairing_codes where terminal_id = $1', [terminalId]);
}

/** Consumes the code, and returns its terminal. */
export async function takePairingCode(
  tx: Tx,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<{ terminal_id: string; account_id: string; livemode: boolean } | undefined> {
  const rows = await tx.query<{ terminal_id: string; account_id: string; livemode: boolean }>(
    `update pairing_codes p set used_at = $2 from terminals t
     where p.hash = $1 and p.expires_at > $2 and p.used_at is null and t.id = p.terminal_id
     returning p.terminal_id, t.account_id, t.livemode`,
    [filter.hash, filter.now],
  );
  return rows[0];
}
