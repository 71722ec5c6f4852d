import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { PLANTED_FAULTS, plant } from '../faults/planted-faults.ts';

/** A fault that chance finds only sometimes must be reproduced by its schedule in most replays. */
const REPLAYS = 5;
const FOUND = 3;
/**
 * Time for which a replay waits until the network has no unfinished work. With a planted fault
 * there is always some, but the other invariants can be checked sooner.
 */
const REST_S = 15;

const ROOT = path.join(import.meta.dirname, '../..');

describe('bugs that chaos has found, when their fix is removed again', () => {
  for (const fault of PLANTED_FAULTS) {
    const { mutation, id, shows } = fault;
    it(`${mutation.name}: ${FOUND} of ${REPLAYS} replays find it`, async (t) => {
      const schedule = path.join(ROOT, 'test/faults/schedules', `${id}.json`);
      const planted = plant(ROOT, fault);
      let result = 0;
      try {
        for (let played = 0; played < REPLAYS && result < FOUND; played++) {
          const again = ['--replay', schedule, '--rest-seconds', String(REST_S)];
          const { broken, replayed } = await planted.play(again);
          const isFound = broken.some((promise) => shows.test(promise));
          if (isFound) result++;
          const { hits, of } = replayed;
          t.diagnostic(`${hits} of ${of} faults at their moment: ${isFound ? 'found' : 'not'}`);
        }
      } finally {
        planted.remove();
      }
      assert.ok(result >= FOUND, `found by ${result} of ${REPLAYS}`);
    });
  }
});
