import pg from 'pg';
import { only } from '#core/assert.ts';
import { codeOf } from '#db/database.ts';
import { SESSION_SETTINGS } from '#db/session-settings.ts';
import type { Executed } from '#testing/plan-log.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that was executed with the plan that its connection has cached. */
export interface Reading {
  readonly statement: Executed;
  /** The names of indexes and tables that were scanned. */
  readonly scans: readonly string[];
  /** Number of rows and index entries that were read; `null` if the statement was only planned. */
  readonly rows: number | null;
  readonly pages: number;
}

/**
 * A connection that is set up like the service's, and has a cached generic plan for each statement.
 */
export interface KeptPlans {
  readonly label: string;
  /** Runs each statement with its cached plan, and rolls it back. */
  run(): Promise<Reading[]>;
  close(): Promise<void>;
}

/**
 * SQLSTATEs of statements that cannot run a second time, because the rows that they insert exist
 * already.
 */
const ALREADY_THERE = new Set(['23505', '23503', '23P01']);

type Explain = (options: string, statement: Executed, index: number) => Promise<PlanNode>;

/**
 * Returns a function that explains a prepared statement, named by its number, in a transaction that
 * is rolled back.
 */
function explainer(client: pg.Client): Explain {
  return async (options, { values, settings }, index) => {
    const given = values.map((value) => (value === null ? 'null' : client.escapeLiteral(value)));
    const call = `execute s${index}${given.length > 0 ? `(${given.join(', ')})` : ''}`;
    await client.query('begin');
    try {
      if (settings !== null) await client.query(settings);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (${options}, format json) ${call}`,
      );
      return only(rows, 'plan')['QUERY PLAN'][0].Plan;
    } finally {
      await client.query('rollback');
    }
  };
}

async function readingOf(explain: Explain, statement: Executed, index: number): Promise<Reading> {
  try {
    const plan = await explain('analyze, buffers, timing off', statement, index);
    const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    return { statement, scans: scansOf(plan), rows: rowsOf(plan), pages };
  } catch (error) {
    if (!ALREADY_THERE.has(codeOf(error))) throw new Error(statement.text, { cause: error });
    const plan = await explain('costs off', statement, index);
    return { statement, scans: scansOf(plan), rows: null, pages: 0 };
  }
}

/** Plans all statements as the service does. */
export async function keepPlans(
  url: string,
  label: string,
  statements: readonly Executed[],
): Promise<KeptPlans> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await client.query('select set_config($1, $2, false)', [name, value]);
  }
  const explain = explainer(client);
  for (const [index, statement] of statements.entries()) {
    await client.query(`prepare s${index} as ${statement.text}`);
    await explain('costs off', statement, index);
  }
  return {
    label,
    run: async () => {
      const readings: Reading[] = [];
      for (const [index, statement] of statements.entries()) {
        readings.push(await readingOf(explain, statement, index));
      }
      return readings;
    },
    close: () => client.end(),
  };
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function scansOf(plan: PlanNode): string[] {
  const names = nodesOf(plan).flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan') return [`all of ${node['Relation Name']}`];
    return node['Index Name'] ?? [];
  });
  return [...new Set(names)].sort();
}

function rowsOf(plan: PlanNode): number {
  const counts = nodesOf(plan).map((node) => {
    if (node['Index Name'] === undefined && node['Relation Name'] === undefined) return 0;
    const each =
      (node['Actual Rows'] ?? 0) +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0);
    return each * (node['Actual Loops'] ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
