import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import { startPeopleServer } from '#testkit/apis/people-server.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';

async function factors(client: PersonClient) {
  const { user } = (await client.get('/session')).body as { user?: { factors: object } };
  return { first_choice: null, recovery_codes_to_save: null, ...user?.factors };
}

test('the API reminds to store recovery codes, old or new, until that is confirmed', async () => {
  const server = await startPeopleServer();
  try {
    await addOwner(server, 'codes@own.test');
    const client = await signInAs(server, 'codes@own.test');
    const none = await client.post('/me/recovery_codes/saved');
    assert.equal(none.body.error?.code, 'unexpected_state', 'there is nothing to store yet');
    assert.equal((await factors(client)).recovery_codes_to_save, false);
    assert.equal((await factors(client)).first_choice, null);
    await addTotp(server, client);
    assert.equal((await factors(client)).recovery_codes_to_save, true);
    assert.equal((await factors(client)).first_choice, 'totp');
    assert.equal((await client.post('/me/recovery_codes/saved')).status, 200);
    assert.equal((await factors(client)).recovery_codes_to_save, false);
    assert.equal((await client.post('/me/recovery_codes')).status, 200);
    assert.equal((await factors(client)).recovery_codes_to_save, true);
  } finally {
    await server.close();
  }
});
