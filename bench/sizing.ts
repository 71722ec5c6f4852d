import type { Sql } from '#db/database.ts';
import { openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { type BenchLine, report } from './report.ts';
import { type Bench, load, residentMb, withBench } from './shop.ts';

/**
 * Measures the resources that sales take under real load, with one webhook endpoint for all event
 * types: bytes per sale on disk and in the write-ahead log, by table and retention; and the memory
 * and connections of the service and PostgreSQL. docs/scale.md shows the results.
 */
const SALES = Number(process.env.BENCH_SALES ?? 10_000);
const PER_SECOND = Number(process.env.BENCH_RATE ?? 50);

/**
 * Tables from which the service itself deletes old rows (docs/scale.md). It keeps all other rows.
 */
const KEPT_30_DAYS = ['events', 'webhook_deliveries', 'webhook_attempts', 'request_log'];
const KEPT_48_HOURS = ['idempotency_keys'];

/** Returns the bytes of each table including partitions, after removing dead rows. */
async function sizes(db: Sql): Promise<Map<string, number>> {
  await db.query('vacuum (full, analyze)');
  const rows = await db.query<{ name: string; bytes: bigint }>(
    `select coalesce(parent.relname, own.relname)::text as name,
       sum(pg_total_relation_size(own.oid))::bigint as bytes
     from pg_class own
     join pg_namespace space on space.oid = own.relnamespace and space.nspname = 'public'
     left join pg_inherits on inhrelid = own.oid
     left join pg_class parent on parent.oid = inhparent
     where own.relkind = 'r' group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

async function logPosition(db: Sql): Promise<number> {
  const [row] = await db.query<{ at: bigint }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as at`,
  );
  return Number(row?.at);
}

async function connections(db: Sql): Promise<number> {
  const [row] = await db.query<{ n: bigint }>(
    `select count(*) as n from pg_stat_activity
     where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return Number(row?.n);
}

/** Returns the memory of all PostgreSQL processes, with shared memory counted once. */
async function postgresMb(db: Sql): Promise<number> {
  const rows = await db.query<{ pid: number }>('select pid from pg_stat_activity');
  const parts = await Promise.all(rows.map(({ pid }) => residentMb(pid, 'RssAnon')));
  const [row] = await db.query<{ mb: number }>(
    `select pg_size_bytes(current_setting('shared_buffers'))::float8 / 1048576 as mb`,
  );
  return parts.filter((mb) => !Number.isNaN(mb)).reduce((sum, mb) => sum + mb, row?.mb ?? 0);
}

const kB = (bytes: number) => `${(bytes / 1000).toFixed(2)} kB`;

async function measure({ db, ...bench }: Bench, pid: number | undefined): Promise<BenchLine[]> {
  const before = await sizes(db);
  const from = await logPosition(db);
  const { taps } = await load({ db, ...bench }, PER_SECOND, SALES);
  const log = (await logPosition(db)) - from;
  const memory = await residentMb(pid);
  const ofPostgres = await postgresMb(db);
  const open = await connections(db);
  const paid = taps.filter(({ status }) => status === 'succeeded').length;
  const grown = [...(await sizes(db))]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / paid }))
    .sort((a, b) => b.bytes - a.bytes);
  const sum = (names: (name: string) => boolean) =>
    grown.filter(({ name }) => names(name)).reduce((total, { bytes }) => total + bytes, 0);
  const month = (name: string) => KEPT_30_DAYS.includes(name);
  const days = (name: string) => KEPT_48_HOURS.includes(name);
  const failures = taps.length - paid;
  return [
    { work: 'disk per sale, for ever', failures, value: kB(sum((n) => !month(n) && !days(n))) },
    { work: 'disk per sale, 30 days', failures, value: kB(sum(month)) },
    { work: 'disk per sale, 48 hours', failures, value: kB(sum(days)) },
    { work: 'write-ahead log per sale', failures, value: kB(log / paid) },
    ...grown
      .filter(({ bytes }) => bytes >= 50)
      .map(({ name, bytes }) => ({ work: `of these: ${name}`, value: kB(bytes) })),
    { work: 'memory of the one process', value: `${memory.toFixed(0)} MB` },
    { work: 'memory of PostgreSQL', value: `${ofPostgres.toFixed(0)} MB` },
    { work: 'connections of the one process', value: String(open) },
  ];
}

const ground = await openChaosGround({ providers: 'none', blockMs: 1000 });
const [rpcUrl = ''] = ground.testnet.config.rpcUrls;
try {
  await report('sizing', await withBench(ground, rpcUrl, measure));
} finally {
  await ground.close();
}
