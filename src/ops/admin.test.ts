import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { newId } from '#core/ids.ts';
import { createOperator } from '#people/create-operator.ts';
import { selectKeptBack, selectNewestForeign } from '#settlement/foreign-settlement-queries.ts';
import { type PeopleServer, startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const FOLDER = import.meta.dirname;
const PASSWORD = 'a long staff passphrase';

let database: Awaited<ReturnType<typeof testDatabase>>;
let server: PeopleServer;

before(async () => {
  database = await testDatabase();
  server = await startPeopleServer(undefined, database);
});

after(() => server.close());

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], stdin = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: database.url };
    const command = [path.join(FOLDER, file), ...args];
    const child = execFile(process.execPath, command, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(stdin);
  });
}

const admin = (args: readonly string[], stdin?: string) => run('admin-command.ts', args, stdin);

test('an operator is created, signs in, and is disabled by command', async () => {
  const made = await admin(['create-operator', 'ops@demo.test', 'Otto', 'Ops'], `${PASSWORD}\n`);
  assert.equal(made.code, 0, made.stderr);
  const client = new PersonClient(server.operator);
  const credentials = { email: 'ops@demo.test', password: PASSWORD };
  assert.equal((await client.post('/session', credentials)).status, 200);
  const listed = await admin(['list-operators']);
  assert.match(listed.stdout, /usr_\w+ active operator ops@demo.test Otto Ops/);
  assert.equal((await admin(['disable-operator', 'ops@demo.test'])).code, 0);
  assert.equal((await client.get('/session')).status, 401);
  assert.equal((await client.post('/session', credentials)).status, 401);
});

test('errors are one line, with exit code 1', async () => {
  for (const [args, stdin, message] of [
    [['create-operator', 'nobody', 'N'], PASSWORD, /email address/],
    [['create-operator', 'x@demo.test', 'N'], 'short', /12 to 256 characters/],
    [['create-operator', 'y@demo.test'], PASSWORD, /name must not be empty/],
    [['disable-operator', 'z@demo.test'], '', /no such user/],
    [['what'], '', /create-operator <email> <name>/],
  ] as const) {
    const ran = await admin(args, stdin);
    assert.equal(ran.code, 1, args.join(' '));
    assert.match(ran.stderr, message);
  }
});

test('after-restore lists what was recovered and what cannot be', async () => {
  const { code, stdout } = await admin(['after-restore']);
  assert.equal(code, 0);
  assert.match(stdout, /^testnet: no recovery was needed so far$/m);
  assert.match(stdout, /These cannot be recovered/);
  assert.match(stdout, /^ {2}\d{4}-\d\d-\d\dT\S+ {2}every change by people \(audit log\)$/m);
  assert.match(stdout, /^ {2}none {2}payers blocked$/m);
  assert.match(stdout, /^ {2}none {2}chips registered$/m);
  assert.match(stdout, /^ {2}none {2}chips blocked$/m);
});

test('the commands are in the audit log, which verifies', async () => {
  const { code, stdout } = await run('audit-log-command.ts', []);
  assert.equal(code, 0);
  assert.match(stdout, /^network 2 [0-9a-f]{64}$/m);
});

test('settlements that two operators refuse are kept apart, and are decided once', async () => {
  const { db } = database;
  const tenant = { accountId: newId('account', new Date()), livemode: false };
  await db.query(`insert into accounts (id, name, created) values ($1, 'Robbed', now())`, [
    tenant.accountId,
  ]);
  const kinds = ['payment', 'refund', 'withdrawal'];
  await db.query(
    `insert into foreign_settlements (livemode, kind, number, tx_hash, log_index, block_number,
       account_id, address, amount, found)
     select false, kind, place, '0x' || place, 0, 7, $1, '0xab', 1000 * place, now()
     from unnest($2::text[]) with ordinality as t (kind, place)`,
    [tenant.accountId, kinds],
  );
  for (const name of ['rita', 'rolf']) {
    const person = { email: `${name}@demo.test`, password: PASSWORD, name };
    const actor = { type: 'system', name: 'test' } as const;
    await createOperator(db, { person, role: 'operator', actor, now: new Date() });
  }
  const decide = (verb: string, name: string, password = PASSWORD) => {
    const args = [verb, 'testnet', tenant.accountId, `${name}@demo.test`];
    return admin(['foreign-settlements', ...args], `${password}\n`);
  };
  const undecided = () => selectNewestForeign(db, tenant);
  assert.equal((await decide('refuse', 'rita', 'a guessed password')).code, 1);
  const first = await decide('refuse', 'rita');
  assert.match(first.stdout, /a second operator must run the same command/, first.stderr);
  const own = await decide('refuse', 'rita');
  assert.match(own.stderr, /a colleague must approve it/);
  assert.notEqual(await undecided(), null, 'one alone decides nothing');
  assert.equal(await selectKeptBack(db, tenant), 6_000n);
  const done = await decide('refuse', 'rolf');
  assert.match(done.stdout, /refused: they stay unbooked \(rita@demo.test, rolf@demo.test\)/);
  assert.equal(await undecided(), null);
  const { stdout } = await admin(['foreign-settlements']);
  for (const kind of kinds) assert.match(stdout, new RegExp(`testnet acct_\\w+ refused ${kind} `));
  assert.equal(await selectKeptBack(db, tenant), 1_000n, 'the payment is in the balance');
  const recoveries = await db.query(`select from network_recoveries where status <> 'done'`);
  assert.equal(recoveries.length, 0, 'nothing is to be booked');
  const again = await decide('accept', 'rita');
  assert.match(again.stderr, /There is nothing to decide for/);
});
