import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify from 'fastify';
import { addCellPeopleRoutes, searchOthers, waitingOfOthers } from '#apis/cells/people-routes.ts';
import { signInElsewhere } from '#apis/cells/sign-in-elsewhere.ts';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { sessionRoutes } from '#apis/dashboard/sessions/session-routes.ts';
import type { CellSettings } from '#cells/ask-other-cells.ts';
import type { Realm } from '#people/user-queries.ts';
import { addOwner, PASSWORD } from '#testkit/apis/people.ts';
import { type PeopleServer, startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';

/** In these tests, cell 1 has the accounts, and a person signs in at cell 0. */

const SECRET = 'the shared secret of the cells in this test';
let home: PeopleServer;
let near: PeopleServer;
let cells: CellSettings;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  home = await startPeopleServer();
  const server = fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  const people = { ...home.people, webUrl: 'https://one.pay.test' };
  const settings = (realm: Realm): SurfaceSettings => ({
    people,
    cookies: { realm, secure: false },
    anyOwnHost: false,
  });
  addCellPeopleRoutes(server, home.clock, {
    cells: { own: 1, others: [{ cell: 0, url: 'http://127.0.0.1:1' }], secret: SECRET },
    settings: { merchant: settings('merchant'), operator: settings('operator') },
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  cells = { own: 0, others: [{ cell: 1, url }], secret: SECRET };
  const elsewhere = signInElsewhere(cells);
  near = await startPeopleServer(({ merchant }) => [
    personSurface(merchant, sessionRoutes({ ...merchant, elsewhere })),
  ]);
  stops.push(
    () => server.close(),
    () => near.close(),
    () => home.close(),
  );
});
after(async () => {
  for (const stop of stops) await stop();
});

const signIn = async (email: string, password: string) => {
  const answer = await new PersonClient(near.dashboard).post('/session', { email, password });
  return {
    status: answer.status,
    message: String((answer.body.error as { message: string }).message),
  };
};

test("the right password at the wrong cell returns the address of the account's cell", async () => {
  await addOwner(home, 'owner@one.test');
  assert.deepEqual(await signIn('owner@one.test', PASSWORD), {
    status: 401,
    message: 'Your account is at another address. Sign in at https://one.pay.test/dashboard',
  });
});

test('a wrong password never reveals that there is an account', async () => {
  await addOwner(home, 'other@one.test');
  const wrong = await signIn('other@one.test', 'another password');
  assert.deepEqual(wrong, await signIn('nobody@one.test', PASSWORD));
  assert.match(wrong.message, /is wrong/);
  assert.deepEqual(
    await signInElsewhere({ ...cells, secret: 'another secret of the same length' })({
      realm: 'merchant',
      email: 'other@one.test',
      password: PASSWORD,
      deviceToken: null,
      visit: { address: '127.0.0.1', userAgent: '', now: home.clock.now() },
    }),
    null,
  );
});

test('failed sign-ins at any cell count at the cell that has the account', async () => {
  await addOwner(home, 'guessed@one.test');
  for (let guess = 0; guess < 12; guess++) await signIn('guessed@one.test', `guess ${guess}`);
  const { message } = await signIn('guessed@one.test', PASSWORD);
  assert.doesNotMatch(message, /one\.pay\.test/);
});

test('a staff search in one cell finds the accounts of another, with its console', async () => {
  const { accountId } = await addOwner(home, 'found@one.test');
  const result = (await searchOthers(cells, 'found@one.test')) as Record<string, unknown>[];
  assert.deepEqual(
    result.map(({ kind, id, cell, console_url }) => [kind, id, cell, console_url]),
    [['account', accountId, 1, 'https://one.pay.test']],
  );
  assert.deepEqual(await searchOthers(cells, 'nobody@one.test'), []);
});

test('every cell is listed with its waiting work, even an unreachable one', async () => {
  await home.db.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     values (true, 'nonce_foreign', 'sender 1', '{}', now())`,
  );
  const away = { cell: 2, url: 'http://127.0.0.1:1' };
  const others = await waitingOfOthers({ ...cells, others: [...cells.others, away] });
  assert.deepEqual(others, [
    {
      cell: 1,
      console_url: 'https://one.pay.test',
      waiting: { alarms: 1, proposals: 0, verifications: 0 },
    },
    { cell: 2, console_url: null, waiting: null },
  ]);
});
