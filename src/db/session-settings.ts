/**
 * The settings of each connection. The service sends them when it connects; a pooler drops them, so
 * there they are stored with the role (deploy/pgbouncer/role.sql).
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  /**
   * Each of our statements has an index. A plan is cached per connection, and one made while a
   * table was tiny would scan all of it until it is replaced.
   */
  enable_seqscan: 'off',
  /**
   * A random page read costs about as much as a sequential one, in memory and on SSD. With the
   * default of 4, a list of a nearly empty table was planned as a sort of all rows that an index
   * finds.
   */
  random_page_cost: '1.1',
  /** Older servers overestimate the cost of an unavoidable scan, and JIT-compile it. */
  jit: 'off',
  /**
   * One plan per statement. By default PostgreSQL plans again at each call while it expects to gain
   * from the values. For short arrays it always does, and planning took a fifth of the database's
   * time. docs/decisions/plans.md describes what statements must observe for this.
   */
  plan_cache_mode: 'force_generic_plan',
  /** Longer than any of our statements; ends statements of a lost client. */
  statement_timeout: '25s',
  /** A transaction that idles holds back vacuum for every queue (measured: five times slower). */
  idle_in_transaction_session_timeout: '15s',
};

/** Writes settings in the format of PostgreSQL's connection options. */
export function connectOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
