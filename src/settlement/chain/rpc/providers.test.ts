import { after, before, describe, it } from 'node:test';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type ProviderCourse,
  runBehavior,
  startProviderCourse,
} from '#testkit/fixtures/settlement/provider-course.ts';
import type { BehaviorName } from '#testkit/network/provider-behaviors.ts';

/** One behavior of each kind; `npm run test:long` runs all of them. */
const SHORT: readonly BehaviorName[] = [
  'limits with -32029 and HTTP 200',
  'has ended the plan: HTTP 401 with -32000',
  'says what nobody knows',
  'answers null',
  'refuses batches',
  'leaves calls of batches out',
  'gives logs of ten blocks',
  'has thrown its logs away',
  'has nodes that are up to three blocks apart',
  'stands still',
  'says "insufficient funds" to all',
  'has become one of another chain',
];

describe('payments and refunds are made once, although a provider', () => {
  let database: TestDatabase;
  let course: ProviderCourse;

  before(async () => {
    database = await testDatabase(12);
    course = await startProviderCourse(database, 60);
    course.world.startRelayer();
  });

  after(async () => {
    await course.stop();
    await database.close();
  });

  for (const name of SHORT) {
    it(name, async () => {
      await runBehavior(course, name, 1);
    });
  }
});
