/**
 * The settings of each connection. The service sends them when it connects. A pooler drops them, so
 * behind one they are stored with the role instead (deploy/pgbouncer/role.sql).
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  /**
   * Every statement of ours has an index. Plans are cached per connection, and a plan made while a
   * table was tiny would otherwise scan the whole table even after it has grown.
   */
  enable_seqscan: 'off',
  /**
   * In memory and on SSDs, a random page read costs about as much as a sequential one. With the
   * default of 4, a plan that was made while a table was nearly empty sorted all rows that an index
   * finds.
   */
  random_page_cost: '1.1',
  /**
   * Off, because older servers overestimate the cost of an unavoidable scan and then JIT-compile
   * it.
   */
  jit: 'off',
  /**
   * Makes one plan per statement. By default, PostgreSQL plans each call anew as long as it expects
   * the values to improve the plan. It always expects that for short arrays, so planning took a
   * fifth of the database's time. See docs/decisions/plans.md for what this requires of statements.
   */
  plan_cache_mode: 'force_generic_plan',
  /**
   * Longer than any of our statements takes. Ends the statements of clients that have disconnected.
   */
  statement_timeout: '25s',
  /**
   * An idle transaction keeps vacuum from cleaning up the queue tables; this made them five times
   * slower.
   */
  idle_in_transaction_session_timeout: '15s',
};

export function connectOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
