import pg from 'pg';
import type { Floor, FloorOf } from './pgbench.ts';

/**
 * Measures the floor without pgbench, in a separate process: runs the same script over the same
 * number of connections, each with one prepared statement at a time. Because it handles the
 * protocol in JavaScript, on the cores that PostgreSQL needs, it reaches less than pgbench.
 */

/** Not measured: connections are being opened and code is being compiled. */
const WARM_UP_MS = 1_000;

/**
 * A statement, with the parts of pgbench's script language that it uses: `\set n random(low, high)`
 * and `:n`.
 */
interface Statement {
  readonly text: string;
  /** Returns the parameter values for one execution. */
  readonly values: () => string[];
}

const RANDOM = /^\\set (\w+) random\((\d+), (\d+)\)$/gm;
/** Matches a variable, but not the `::` of a cast. */
const VARIABLE = /(?<!:):([a-z_]\w*)/g;

function randomIn(low: number, high: number): string {
  return String(low + Math.floor(Math.random() * (high - low + 1)));
}

/** Parses a script. @throws if it uses an undefined variable or any other `\` command. */
function readScript({ script, variables = {} }: FloorOf): Statement {
  const sources = new Map<string, () => string>(
    Object.entries(variables).map(([name, value]) => [name, () => value]),
  );
  for (const [, name = '', low, high] of script.matchAll(RANDOM)) {
    sources.set(name, () => randomIn(Number(low), Number(high)));
  }
  const names: string[] = [];
  const text = script.replaceAll(RANDOM, '').replaceAll(VARIABLE, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  if (/^\\/m.test(text)) throw new Error(`a command that is not known here:\n${text}`);
  const read = names.map((name) => {
    const source = sources.get(name);
    if (source === undefined) throw new Error(`nothing sets :${name}`);
    return source;
  });
  return { text, values: () => read.map((source) => source()) };
}

async function measure(load: FloorOf): Promise<Floor> {
  const { text, values } = readScript(load);
  const clients = Array.from(
    { length: load.clients },
    () => new pg.Client({ connectionString: load.databaseUrl }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const start = performance.now() + WARM_UP_MS;
  const end = start + load.seconds * 1_000;
  let executed = 0;
  const run = async (client: pg.Client) => {
    for (;;) {
      await client.query({ name: 'floor', text, values: values() });
      const now = performance.now();
      if (now >= end) return;
      if (now >= start) executed++;
    }
  };
  await Promise.all(clients.map(run));
  await Promise.all(clients.map((client) => client.end()));
  const perSecond = executed / load.seconds;
  return { perSecond, latencyMs: (load.clients * 1_000) / perSecond };
}

process.on('message', async (load) => {
  process.send?.(await measure(load as FloorOf));
});
