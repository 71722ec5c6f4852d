import { assert, present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import { toJsonAtoms } from '#core/money.ts';
import { type Limit, limitFrom, type StoredShopSum } from '#core/shop-limit.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

/**
 * The shift of a till: the signed-in person, and the person's rights. People stay signed in only
 * while they belong to the account and the PIN with which they signed in is current. Once a person
 * is removed or a PIN changed, the next request has no rights, although the shift continues.
 */

const shifts = table('shifts', {
  id: 'text',
  terminal_id: 'text',
  account_id: 'text',
  /** A user or a staff member; `null` in a shift without a person. */
  user_id: 'text?',
  pin_id: 'uuid?',
  started_at: 'timestamptz',
  ended_at: 'timestamptz?',
});

const SHOWN = shifts.pick(['id', 'user_id', 'started_at', 'ended_at'], 's');

type OpenShift = Row<typeof shifts>;

/**
 * SQL: the shift (`s`) of a terminal, and the signed-in person (`m`). `limit` keeps the planner
 * from hashing the people of all accounts.
 */
export const OPEN_SHIFT = (terminalId: string) =>
  `shifts s left join lateral (
     select * from till_people p
     where p.account_id = s.account_id and p.id = s.user_id and p.pin_id = s.pin_id
     limit 1) m on true
   where s.terminal_id = ${terminalId} and s.ended_at is null`;

/** SQL: true if the account has people with a PIN. `exists` might hash those of all accounts. */
export const HAS_TILL_PEOPLE = (account: string) =>
  `(select true from till_people where account_id = ${account} limit 1) is not null`;

export type Shift = Row<typeof SHOWN> & {
  /** The signed-in person; `null` if the PIN or the membership has ended since. */
  readonly cashier_id: string | null;
};

/** A shift, with the actions that the till may take without a manager. */
export type ShiftRights = Shift & {
  /** How much of one sale may be refunded; `null` for up to the account's daily limit. */
  readonly limit: Limit | null;
  readonly may_discount: boolean;
};

type RightsRow = Omit<ShiftRights, 'limit'> & {
  readonly atoms: bigint | null;
  readonly stored: StoredShopSum | null;
};

const NOTHING: Limit = { atoms: 0n, inShop: null };

/** A shift without a signed-in person allows nothing. */
export async function selectShift(sql: Sql, terminalId: string): Promise<ShiftRights | null> {
  const rows = await sql.query<RightsRow>(
    `select ${SHOWN}, m.id as cashier_id, m.refund_limit as atoms,
       m.refund_limit_presentment as stored, coalesce(m.may_discount, false) as may_discount
     from ${OPEN_SHIFT('$1')}`,
    [terminalId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { atoms, stored, ...shift } = row;
  if (shift.cashier_id === null) return { ...shift, limit: NOTHING };
  return { ...shift, limit: atoms === null ? null : limitFrom(atoms, stored) };
}

export function shiftView(shift: ShiftRights) {
  const { id, cashier_id: cashier, started_at, ended_at, limit, may_discount } = shift;
  const at = { started_at: started_at.toISOString(), ended_at: ended_at?.toISOString() ?? null };
  const inShop = limit?.inShop ?? null;
  const rights = {
    refund_limit: limit === null ? null : toJsonAtoms(limit.atoms),
    refund_limit_presentment: inShop === null ? null : { ...inShop },
    may_discount,
  };
  return { id, object: 'shift', cashier, ...at, ...rights };
}

/** SQL: the time on the clock of the account and mode of terminal $2. */
const ACCOUNT_TIME = `$6::timestamptz + (
  select m.ahead_seconds * interval '1 second' from terminals t
  join account_modes m on m.account_id = t.account_id and m.livemode = t.livemode
  where t.id = $2)`;

/** Starts a shift, or hands the open shift over. The caller has checked the PIN. */
export async function openShift(
  tx: Tx,
  opened: {
    readonly terminalId: string;
    readonly accountId: string;
    /** `null` for a shift without a person. */
    readonly personId: string | null;
    readonly pinId: string | null;
    readonly now: Date;
  },
): Promise<ShiftRights> {
  const { terminalId, accountId, personId, pinId, now } = opened;
  await tx.query(
    `insert into shifts as s (id, terminal_id, account_id, user_id, pin_id, started_at)
     values ($1, $2, $3, $4, $5, ${ACCOUNT_TIME})
     on conflict (terminal_id) where ended_at is null
     do update set user_id = excluded.user_id, pin_id = excluded.pin_id`,
    [newId('shift', now), terminalId, accountId, personId, pinId, now],
  );
  return present(await selectShift(tx, terminalId), 'shift');
}

/** Locks the open shift of a terminal. @returns null if there is none. */
export async function lockOpenShift(tx: Tx, terminalId: string): Promise<OpenShift | null> {
  const open = 'where terminal_id = $1 and ended_at is null for update';
  return (await shifts.find(tx, open, [terminalId])) ?? null;
}

/** Ends the shift, which must be locked and open. */
export async function closeShift(
  tx: Tx,
  { id, endedAt }: { readonly id: string; readonly endedAt: Date },
): Promise<void> {
  const open = { where: 'id = $1 and ended_at is null', values: [id] };
  const rows = await shifts.update(tx, { ended_at: endedAt }, open);
  assert(rows.length === 1, 'a shift was ended twice');
}
