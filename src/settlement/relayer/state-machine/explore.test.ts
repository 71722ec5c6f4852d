import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { step as right } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import { differsFrom } from '#testkit/fixtures/settlement/transaction-cases.ts';
import {
  ALL,
  type Exploration,
  explore,
  nothingMet,
} from '#testkit/simulation/relayer-model/explore.ts';
import { IN_TABLE, PLANTED, RELAPSES } from '#testkit/simulation/relayer-model/faults.ts';
import { BOUNDS, type BoundsName, boundsOf } from '#testkit/simulation/relayer-model/world.ts';

/** Additional steps. A run with more steps takes minutes and gigabytes. */
const DEEPER = Number(process.env.EXPLORE_DEEPER ?? 0);
/** With fewer states, the model would no longer cover all situations that it is meant to cover. */
const FEWEST_STATES = 1_000_000;
/** State limit for a model with a planted fault, which shows after far fewer states. */
const MOST_STATES_OF_A_FAULT = 150_000;
/**
 * With a planted fault, more of the states that make no progress are explored, because the fault
 * shows in few of them.
 */
const CALM_EACH_OF_A_FAULT = 101;

describe('everything that can happen to one transaction, and to two', () => {
  const met = nothingMet();
  const explored: Exploration[] = [];

  for (const name of Object.keys(BOUNDS) as BoundsName[]) {
    it(`${name}: every promise holds in every state`, (test) => {
      const result = explore(boundsOf(name, DEEPER), { met });
      test.diagnostic(`${result.states} states, ${result.depth} steps deep`);
      assert.deepEqual(result.violation, null);
      explored.push(result);
    });
  }

  it('reaches a million states, every observation, every effect and every phase', (test) => {
    const states = explored.reduce((sum, one) => sum + one.states, 0);
    test.diagnostic(`${states} states in all`);
    assert(states >= FEWEST_STATES, `only ${states} states`);
    assert.deepEqual(met.observations, new Set(ALL.observations));
    assert.deepEqual(met.effects, new Set(ALL.effects));
    const passages = [...met.passages].map((one) => one.split(' → '));
    const changes = passages.filter(([from, to]) => from !== to);
    const left = new Set(changes.map(([from]) => from));
    const entered = new Set(changes.map(([, to]) => to));
    const open = ALL.phases.filter((phase) => phase !== 'done');
    assert.deepEqual(
      open.filter((phase) => !left.has(phase)),
      [],
    );
    // All phases but `signed` and `unsigned`, in which transactions start and to which they may
    // return.
    assert.deepEqual(
      ALL.phases.filter((phase) => !entered.has(phase)),
      [],
    );
  });
});

describe('a mistake planted in `step`', () => {
  for (const { name, breaks, bounds, step } of [...PLANTED, ...RELAPSES]) {
    it(`shows: ${name}`, (test) => {
      const calmEach = CALM_EACH_OF_A_FAULT;
      const limits = { step, mostStates: MOST_STATES_OF_A_FAULT, calmEach };
      const { violation, states } = explore(boundsOf(bounds), limits);
      assert(violation !== null, `nothing was found in ${states} states`);
      test.diagnostic(`after ${states} states: ${violation.what}`);
      assert.match(violation.what, breaks);
    });
  }

  for (const { name, step } of IN_TABLE) {
    it(`shows in the table of all pairs: ${name}`, () => {
      assert.notDeepEqual(differsFrom(right, step), []);
    });
  }
});
