import { after, before, describe, it } from 'node:test';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { BEHAVIOURS, type BehaviourName } from '#testing/provider-behaviours.ts';
import {
  type ProviderCourse,
  runBehaviour,
  startProviderCourse,
} from '#testing/provider-course.ts';

const ROUNDS = 5;

for (const blockMs of [60, 250]) {
  describe(`payments and refunds are made once at blocks of ${blockMs} ms, although`, () => {
    let database: TestDatabase;
    let course: ProviderCourse;
    let taps = 0;
    let refunds = 0;

    before(async () => {
      database = await testDatabase(12);
      course = await startProviderCourse(database, blockMs);
      course.world.startRelayer();
    });

    after(async () => {
      await course.stop();
      await database.close();
    });

    for (const name of Object.keys(BEHAVIOURS) as BehaviourName[]) {
      it(`a provider ${name}`, async () => {
        const result = await runBehaviour(course, name, ROUNDS);
        taps += result.taps;
        refunds += result.refunds;
      });
    }

    it('counts them', (t) => {
      t.diagnostic(`blocks of ${blockMs} ms: ${taps} taps, ${refunds} refunds`);
    });
  });
}
