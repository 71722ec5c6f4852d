/**
 * What each connection of the service runs with. It sends them when it connects; a pooler drops
 * them, so there they are stored with the role (deploy/pgbouncer/role.sql).
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  /**
   * Each of our statements has an index. A plan is kept per connection, and one that was made while
   * a table was tiny would read all of it for as long as nothing replaces it.
   */
  enable_seqscan: 'off',
  /**
   * A page read at random costs about as much as the next one, in memory and on SSD. At the default
   * of 4, a list of a nearly empty table was planned as a sort of all that an index finds.
   */
  random_page_cost: '1.1',
  /** Older servers take a scan that cannot be avoided for a costly one, and compile it. */
  jit: 'off',
  /**
   * One plan per statement. By default PostgreSQL makes a new plan at each call while it expects to
   * gain by knowing the values. For short arrays it always does, and planning took a fifth of the
   * database's time. See docs/decisions/plans.md for what that asks of a statement.
   */
  plan_cache_mode: 'force_generic_plan',
  /** Longer than any statement of ours; ends what a lost client left behind. */
  statement_timeout: '25s',
  /** A transaction that idles holds back vacuum for every queue (measured: five-fold slower). */
  idle_in_transaction_session_timeout: '15s',
};

/** As PostgreSQL takes them at the start of a connection. */
export function connectOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
