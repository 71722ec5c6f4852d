import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startThrowawayPostgres } from '#sandbox/start-postgres.ts';
import type { TestDatabase } from '#testing/database.ts';

/** Folder inside the cluster's folder. */
const FOLDER = 'statements';

/** Settings that make `auto_explain` log each executed statement with its values. */
const SETTINGS: Readonly<Record<string, string>> = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '-1',
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_directory: FOLDER,
  log_rotation_size: '0',
  log_rotation_age: '0',
  // Off, because the test itself updates the statistics when it needs them.
  autovacuum: 'off',
};

/** A statement as the service sent it, with the values of one execution. */
export interface Executed {
  readonly text: string;
  /** Values as text, `$1` first. */
  readonly values: readonly (string | null)[];
  /** Planner settings that differ in the transaction; `null` if there are none. */
  readonly settings: string | null;
}

/** A database whose server logs the statements that it executes. */
export interface PlanLog {
  readonly database: TestDatabase;
  /** Returns each distinct statement once, with its most recent values. */
  executed(): Promise<Executed[]>;
  close(): Promise<void>;
}

export async function openPlanLog(): Promise<PlanLog> {
  const server = await startThrowawayPostgres(SETTINGS);
  const db = openDatabase({ url: server.url, maxConnections: 2 });
  await migrate(db);
  const folder = path.join(server.cluster, FOLDER);
  return {
    // Closes only the connections, because a database can be copied only while nothing is connected
    // to it. `PlanLog.close` stops the server.
    database: { db, url: server.url, close: () => db.close() },
    executed: () => readStatements(folder),
    close: () => server.stop(),
  };
}

interface Line {
  readonly message?: string;
  /** Names the transaction. */
  readonly vxid?: string;
}

interface Explained {
  readonly 'Query Text': string;
  readonly 'Query Parameters'?: string;
}

const HEAD = /^duration: [\d.]+ ms {2}plan:\n/;
const PLANNER_SETTINGS = /^\s*select set_config\('enable_/;
/**
 * Matches statements of the service. Migration files do not match, because they contain many
 * statements.
 */
const PREPARABLE = /^\s*(?:with|select|insert|update|delete)\b[^;]*$/i;
const VALUE = /\$\d+ = (?:NULL|'((?:[^']|'')*)')/g;

async function readStatements(folder: string): Promise<Executed[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  const statements = new Map<string, Executed>();
  const settingsOf = new Map<string, string>();
  for (const line of texts.join('').trimEnd().split('\n')) {
    const { message = '', vxid = '' } = JSON.parse(line) as Line;
    if (!HEAD.test(message)) continue;
    const explained = JSON.parse(message.replace(HEAD, '')) as Explained;
    const text = explained['Query Text'];
    if (!PREPARABLE.test(text)) continue;
    if (PLANNER_SETTINGS.test(text)) settingsOf.set(vxid, text);
    const values = valuesOf(explained['Query Parameters'] ?? '');
    statements.set(text, { text, values, settings: settingsOf.get(vxid) ?? null });
  }
  return [...statements.values()];
}

function valuesOf(parameters: string): (string | null)[] {
  return [...parameters.matchAll(VALUE)].map(([, value]) => value?.replaceAll("''", "'") ?? null);
}
