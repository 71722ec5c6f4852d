import { test } from 'node:test';
import { sharedStage } from '../../web/testing/stage.ts';
import { countClicks } from '../journeys/people/clicks.ts';
import { AT_THE_COUNTER, FORGOTTEN_PIN } from '../journeys/people/counter.ts';
import { FIRST_PAYMENT } from '../journeys/people/first-payment.ts';
import { runJourney } from '../journeys/people/journey.ts';
import { WITH_A_WALLET } from '../journeys/people/wallets.ts';

/** Runs all user journeys. A separate file runs the quick ones, too. */

const stage = sharedStage();

for (const journey of [...AT_THE_COUNTER, ...WITH_A_WALLET, FIRST_PAYMENT, FORGOTTEN_PIN]) {
  test(`${journey.name}: at ${journey.width} pixels, in no more clicks than before`, async () => {
    const { sandbox, browser } = stage();
    await runJourney(journey, { sandbox, browser: countClicks(browser) });
  });
}
