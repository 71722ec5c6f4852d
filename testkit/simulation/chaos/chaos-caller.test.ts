import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { listen } from '#testkit/network/listen.ts';
import { openChaosCaller } from '#testkit/simulation/chaos/chaos-caller.ts';
import { openJournal } from '#testkit/simulation/chaos/chaos-journal.ts';

const SEED = 1;

it('an answer that arrives after the database was restored is ignored', async () => {
  const journal = openJournal();
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (asked++ === 0) {
      journal.copied();
      journal.restored();
    }
    response.writeHead(201).end(JSON.stringify({ id: `answer ${asked}` }));
  });
  const { url, close } = await listen(server);
  try {
    // Disables the random short time-outs, so that no request in these tests times out.
    const random = { ...createRandom(SEED, 'caller'), chance: () => false };
    const caller = openChaosCaller({ urls: [url], key: 'sk_test', random, journal });
    const answer = await caller.post('/payment_intents', { amount: 1 }, 'a key');
    assert.equal(answer?.body.id, 'answer 2');
    assert.deepEqual(journal.complaints, []);
  } finally {
    await close();
  }
});
