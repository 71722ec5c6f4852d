import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { testDatabase } from '#testing/database.ts';
import { type PeopleServer, startPeopleServer } from '#testing/people-server.ts';
import { PersonClient } from '#testing/person-client.ts';

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

test('what is wrong is said in one line, with exit code 1', async () => {
  for (const [args, stdin, message] of [
    [['create-operator', 'nobody', 'N'], PASSWORD, /e-mail address/],
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

test('after a restore it says what came back and what cannot', async () => {
  const { code, stdout } = await admin(['after-restore']);
  assert.equal(code, 0);
  assert.match(stdout, /^testnet: nothing had to be recovered yet$/m);
  assert.match(stdout, /What follows cannot come back/);
  assert.match(stdout, /^ {2}\d{4}-\d\d-\d\dT\S+ {2}every change by people \(audit log\)$/m);
  assert.match(stdout, /^ {2}none {2}payers blocked$/m);
});

test('the commands are in the audit log, which verifies', async () => {
  const { code, stdout } = await run('audit-log-command.ts', []);
  assert.equal(code, 0);
  assert.match(stdout, /^network 2 [0-9a-f]{64}$/m);
});
