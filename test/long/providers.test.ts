import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type ProviderCourse,
  runBehavior,
  startProviderCourse,
} from '#testkit/fixtures/settlement/provider-course.ts';
import { BEHAVIORS, type BehaviorName } from '#testkit/network/provider-behaviors.ts';

const ALL = Object.keys(BEHAVIORS) as BehaviorName[];
/** Starts first, because it takes hundreds of seconds with slow blocks. */
const LONGEST: BehaviorName = 'lets broadcasts be mined 20 blocks late';
const LONGEST_FIRST = [LONGEST, ...ALL.filter((name) => name !== LONGEST)];
/** Chains with slow blocks mostly wait, so many run in parallel. */
const SIDE_BY_SIDE = 6;
const CONNECTIONS = 8;

for (const { blockMs, rounds, names, courses } of [
  { blockMs: 60, rounds: 5, names: ALL, courses: 1 },
  { blockMs: 200, rounds: 5, names: ALL, courses: 1 },
  { blockMs: 12_000, rounds: 1, names: LONGEST_FIRST, courses: SIDE_BY_SIDE },
]) {
  let taps = 0;
  let refunds = 0;
  const promise = `payments and refunds are made once at blocks of ${blockMs} ms, although`;
  describe(promise, { concurrency: courses }, () => {
    const databases: TestDatabase[] = [];
    const free: ProviderCourse[] = [];

    before(async () => {
      for (let i = 0; i < courses; i++) {
        const database = await testDatabase(CONNECTIONS);
        databases.push(database);
        const course = await startProviderCourse(database, blockMs);
        course.world.startRelayer();
        free.push(course);
      }
    });

    after(async () => {
      await Promise.all(free.map((course) => course.stop()));
      await Promise.all(databases.map((database) => database.close()));
    });

    for (const name of names) {
      it(`a provider ${name}`, async () => {
        const course = free.pop();
        assert(course !== undefined, 'more tests at once than courses');
        try {
          const result = await runBehavior(course, name, rounds);
          taps += result.taps;
          refunds += result.refunds;
        } finally {
          course.first.behavior = null;
          free.push(course);
        }
      });
    }
  });

  it(`counts them at blocks of ${blockMs} ms`, (t) => {
    t.diagnostic(`blocks of ${blockMs} ms: ${taps} taps, ${refunds} refunds`);
  });
}
