import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { type SharedSandbox, startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { addTestTerminal, type TestTerminal } from '../../web/testing/till.ts';
import { chromiumEngine, firefoxEngine } from './engines/by-playwright.ts';
import { webkitEngine } from './engines/by-webdriver.ts';
import { COUNTER_JOURNEYS } from './engines/counter-journeys.ts';
import { DESK_JOURNEYS } from './engines/desk-journeys.ts';
import type { Engine } from './engines/hands.ts';
import { type Journeys, ZONE } from './engines/journey.ts';
import { LANGUAGE_JOURNEYS } from './engines/language-journeys.ts';
import { OTHER_JOURNEYS } from './engines/other-journeys.ts';
import { PRICE_JOURNEYS } from './engines/price-journeys.ts';
import { TABLET_JOURNEYS } from './engines/tablet-journeys.ts';

/** Runs journeys of each app in three browser engines, because users have all of them. */

const JOURNEYS: Journeys = {
  ...OTHER_JOURNEYS,
  ...COUNTER_JOURNEYS,
  ...DESK_JOURNEYS,
  ...PRICE_JOURNEYS,
  ...LANGUAGE_JOURNEYS,
  ...TABLET_JOURNEYS,
};

let database: TestDatabase;
let shared: SharedSandbox;
let terminal: TestTerminal;
const engines = [chromiumEngine(), firefoxEngine(), webkitEngine()];

before(async () => {
  database = await testDatabase();
  shared = await startSharedSandbox({ DATABASE_URL: database.url });
  const { sandbox } = shared;
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const account = `/accounts/${sandbox.account}`;
  const { version } = (await owner.get(account)).body;
  const { status, text } = await owner.patch(account, { version, time_zone: ZONE });
  assert.equal(status, 200, text);
  terminal = await addTestTerminal(sandbox);
});

after(async () => {
  for (const engine of engines) await engine.close();
  await shared.close();
  await database.close();
});

function runIn(engine: Engine): void {
  const options = engine.missing === null ? {} : { skip: engine.missing };
  describe(engine.name, options, () => {
    for (const [name, journey] of Object.entries(JOURNEYS)) {
      test(name, async (t) => {
        const hands = await engine.open();
        try {
          await journey(hands, { sandbox: shared.sandbox, db: database.db, terminal });
        } catch (error) {
          const shown = 'location.href + document.body.innerText.slice(0, 1000)';
          t.diagnostic(String(await hands.evaluate(shown).catch(() => 'no page')));
          throw error;
        } finally {
          await hands.close();
        }
      });
    }
  });
}

for (const engine of engines) runIn(engine);
