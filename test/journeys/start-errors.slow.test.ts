import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '#db/database.ts';
import { openDataFolder } from '#sandbox/data-folder.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { listen } from '#testkit/network/listen.ts';
import { spawnMain } from '#testkit/network/spawn-network.ts';
import { startTcpProxy } from '#testkit/network/tcp-proxy.ts';
import { startThrowawayChain } from '#testkit/network/throwaway-chain.ts';

const folder = testFolder();

/** Starts with these settings and expects a failure with one line on standard error. */
async function failedStart(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  dataDir = folder,
): Promise<string> {
  const { child, logs } = spawnMain({ dataDir, env, args });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 1, logs());
  const lines = logs()
    .split('\n')
    .filter((line) => line.startsWith('tapline: '));
  assert.equal(lines.length, 1, logs());
  assert.doesNotMatch(logs(), /^\s+at /m);
  return lines[0] ?? '';
}

test('a port in use is named, before anything is started', async () => {
  const { port, close } = await listen(createServer());
  assert.match(await failedStart({ PORT: `${port}` }), new RegExp(`PORT ${port} is taken`));
  await close();
});

test('an unreachable database is named', async () => {
  const line = await failedStart({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  assert.match(line, /DATABASE_URL cannot be reached/);
});

test('a database that is lost during the start is named', async (t) => {
  const database = await testDatabase(2);
  t.after(database.close);
  const proxy = await startTcpProxy(Number(new URL(database.url).port));
  t.after(proxy.close);
  let versionWasRead = false;
  proxy.onClientBytes = (text) => {
    const isLost = versionWasRead;
    versionWasRead ||= text.includes('server_version_num');
    return isLost && !text.includes('server_version_num') ? 'cut' : 'pass';
  };
  const url = new URL(database.url);
  url.port = String(proxy.port);
  assert.match(await failedStart({ DATABASE_URL: url.href }), /DATABASE_URL cannot be reached/);
  assert.ok(versionWasRead);
});

/** The newest migration of the last build before the baseline. */
const FORMER = '0627_refused_pushes.sql';
const REFUSED = new RegExp(`before the first release.*${FORMER}.*new data folder or an empty data`);

test('a database from before the first release is refused and not changed', async (t) => {
  const { db, url, close } = await testDatabase(2);
  t.after(close);
  await db.query('truncate migrations');
  await db.query(`insert into migrations (name, digest) values ($1, '')`, [FORMER]);
  assert.match(await failedStart({ DATABASE_URL: url }), REFUSED);
  const rows = await db.query('select name from migrations');
  assert.deepEqual(rows, [{ name: FORMER }]);
});

test('a data folder from before the first release is refused', async () => {
  const former = testFolder();
  const data = await openDataFolder(former);
  const postgres = await startPostgres({ folder: data, log: () => {}, durable: false });
  const db = openDatabase({ url: postgres.url, maxConnections: 1 });
  await db.query('create table migrations (name text primary key, digest text not null)');
  await db.query(`insert into migrations values ($1, '')`, [FORMER]);
  await db.close();
  await postgres.stop();
  await data.close();
  assert.match(await failedStart({}, [], former), REFUSED);
});

test('the direct and the pooled address must be the same database', async () => {
  const other = await startThrowawayPostgres();
  const settings = { DATABASE_DIRECT_URL: other.url };
  assert.match(await failedStart(settings), /DATABASE_DIRECT_URL points to a different database/);
  await other.stop();
  assert.match(await failedStart(settings), /DATABASE_DIRECT_URL cannot be reached/);
  const databases = [await testDatabase(2), await testDatabase(2)];
  const [one, two] = databases.map(({ url }) => url);
  const sameServer = { DATABASE_URL: one ?? '', DATABASE_DIRECT_URL: two ?? '' };
  assert.match(await failedStart(sameServer), /DATABASE_DIRECT_URL points to a different database/);
  for (const database of databases) await database.close();
});

test('a chain with another id than configured is refused', async () => {
  const chain = await startThrowawayChain({ chainId: 31_999 });
  const database = await testDatabase(2);
  const address = `0x${'1'.repeat(40)}`;
  const key = `0x${'2'.repeat(64)}`;
  const line = await failedStart({
    DATABASE_URL: database.url,
    CHAIN_TESTNET_RPC_URL: chain.rpcUrl,
    CHAIN_TESTNET_CHAIN_ID: '5',
    CHAIN_TESTNET_USDC: address,
    CHAIN_TESTNET_SETTLEMENT: address,
    CHAIN_TESTNET_RELAYER_KEYS: key,
    CHAIN_TESTNET_REGISTRAR_KEY: key,
  });
  assert.match(line, /CHAIN_TESTNET_RPC_URL leads to chain 31999, but chain 5 is expected/);
  await database.close();
  await chain.stop();
});

test('a node address without a scheme and a bad header are named, without keys', async () => {
  const bare = { CHAIN_TESTNET_RPC_URL: 'eth.example.com/v2/secretkey' };
  const line = await failedStart(bare);
  assert.match(line, /CHAIN_TESTNET_RPC_URL: must begin with http:\/\/ or https:\/\//);
  const headers = {
    CHAIN_TESTNET_RPC_URL: 'http://127.0.0.1:1',
    CHAIN_TESTNET_RPC_HEADERS: '[{"x-key": "secretkey\\n"}]',
  };
  const other = await failedStart(headers);
  assert.match(other, /CHAIN_TESTNET_RPC_HEADERS must be a JSON array/);
  assert(!`${line}${other}`.includes('secretkey'));
});

test('missing, unknown and wrong settings are named', async () => {
  const rpc = { CHAIN_TESTNET_RPC_URL: 'http://127.0.0.1:1' };
  assert.match(await failedStart(rpc), /CHAIN_TESTNET_CHAIN_ID must be set/);
  assert.match(await failedStart({ TAPLINE_DATADIR: 'x' }), /TAPLINE_DATADIR is not a setting/);
  assert.match(await failedStart({ RATE_LIMIT: 'many' }), /RATE_LIMIT=many must be/);
  assert.match(await failedStart({}, ['--roles', 'cook']), /--roles takes api, worker, registrar/);
});

test('production refuses everything embedded and every default secret', async () => {
  const line = await failedStart({ NODE_ENV: 'production' });
  for (const name of ['DATABASE_URL', 'CHAIN_MAINNET_RPC_URL', 'TAPLINE_SECRET']) {
    assert.match(line, new RegExp(name));
  }
});
