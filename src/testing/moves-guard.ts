import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database, Sql, Tx } from '#db/database.ts';
import type { ServerOptions } from '#http/server.ts';

/**
 * Tables to which a route that declares `moves: 'nothing'` must never write: those for money,
 * permissions, and names that payers trust. Triggers in the test databases enforce this.
 */
const GUARDED_TABLES = [
  ...['api_keys', 'device_keys', 'pairing_codes', 'memberships', 'invitations', 'owner_changes'],
  ...['passkeys', 'recovery_codes', 'payout_holds', 'withdrawals', 'refunds', 'payments'],
  ...['accounts', 'account_modes', 'account_name_requests', 'operator_proposals', 'terminals'],
  ...['manager_codes', 'shifts', 'organization_members', 'locations'],
  ...['webhook_endpoints', 'agent_tokens', 'passes', 'cards', 'go_live_requests'],
  ...['wallet_changes', 'risk_settings', 'risk_blocked_payers', 'spending_policy_defaults'],
];

/** The columns to guard in tables that also record when something was last seen. */
const COLUMNS: Readonly<Record<string, string>> = {
  terminals: 'of label, name, status',
  api_keys: 'of name, scopes, ip_allowlist, expires_at, revoked_at',
};

/**
 * Marks statements of routes that declare `moves: 'nothing'`, so that the triggers recognize them.
 */
const COMMENT = '/* moves nothing */ ';

/** Statements that create the triggers, for the template of the test databases. */
export const MOVES_TRIGGERS = [
  `create function refuse_unsaid_move() returns trigger language plpgsql as $$ begin
     raise exception 'a route that says it moves nothing has written %', tg_table_name;
   end $$`,
  ...GUARDED_TABLES.map(
    (table) =>
      `create trigger refuse_unsaid_move
         after insert or delete or update ${COLUMNS[table] ?? ''} on ${table}
       for each row when (starts_with(current_query(), '${COMMENT.trim()}'))
       execute function refuse_unsaid_move()`,
  ),
];

const atRest = new AsyncLocalStorage<boolean>();

function withComment(text: string): string {
  return atRest.getStore() === true ? `${COMMENT}${text}` : text;
}

function guardedSql<T extends Sql>(sql: T): T {
  const query: Sql['query'] = (text, values) => sql.query(withComment(text), values);
  return { ...sql, query };
}

/**
 * Returns a database client that marks the statements of routes that declare `moves: 'nothing'`.
 */
export function guardedDatabase(db: Database): Database {
  return {
    ...guardedSql(db),
    transaction: (work) => db.transaction((tx: Tx) => work(guardedSql(tx))),
  };
}

/**
 * Marks the statements of routes that declare `moves: 'nothing'`. Every test server uses this as
 * its `around`.
 */
export const watchMoves: NonNullable<ServerOptions['around']> = ({ moves }, work) =>
  atRest.run(moves === 'nothing', work);
