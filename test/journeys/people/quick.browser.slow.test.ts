import { test } from 'node:test';
import { sharedStage } from '../../../web/testing/stage.ts';
import { countClicks } from './clicks.ts';
import { AT_THE_COUNTER } from './counter.ts';
import { runJourney } from './journey.ts';
import { WITH_A_WALLET } from './wallets.ts';

const stage = sharedStage();

for (const journey of [...AT_THE_COUNTER, ...WITH_A_WALLET]) {
  if (journey.quick !== true) continue;
  test(`${journey.name}: at ${journey.width} pixels, in no more clicks than before`, async () => {
    const { sandbox, browser } = stage();
    await runJourney(journey, { sandbox, browser: countClicks(browser) });
  });
}
