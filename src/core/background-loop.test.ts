import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoop } from '#core/background-loop.ts';

/** A poll interval so long that polling causes no run during a test. */
const NEVER = 60_000;

function counting(answers: readonly (boolean | Error)[] = []) {
  const state = { runs: 0, errors: [] as unknown[], at: [] as number[] };
  const run = async () => {
    state.at.push(performance.now());
    const answer = answers[state.runs++] ?? false;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const onError = (_name: string, error: unknown) => state.errors.push(error);
  return { state, run, onError };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'it did not happen within 5 s');
    await sleep(2);
  }
}

test('a loop runs once at its start and then waits', async () => {
  const { state, run, onError } = counting();
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError });
  await sleep(30);
  await loop.stop();
  assert.equal(state.runs, 1);
});

test('a wake-up runs it at once', async () => {
  const { state, run, onError } = counting();
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError });
  await until(() => state.runs === 1);
  await sleep(5);
  loop.wake();
  await until(() => state.runs === 2);
  await loop.stop();
});

test('a wake-up during a run is not lost, and a hundred of them cause one more run', async () => {
  const { state, run, onError } = counting();
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = async () => {
    const more = await run();
    if (state.runs === 1) await gate;
    return more;
  };
  const loop = startLoop({ name: 'work', pollMs: NEVER, run: slow, onError });
  await until(() => state.runs === 1);
  for (let i = 0; i < 100; i++) loop.wake();
  open();
  await until(() => state.runs === 2);
  await sleep(20);
  await loop.stop();
  assert.equal(state.runs, 2);
});

test('without a wake-up it runs at every poll', async () => {
  const { state, run, onError } = counting();
  const loop = startLoop({ name: 'work', pollMs: 10, run, onError });
  await until(() => state.runs >= 3);
  await loop.stop();
});

test('remaining work continues at once', async () => {
  const { state, run, onError } = counting([true, true, true, false]);
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError });
  await until(() => state.runs === 4);
  await sleep(20);
  await loop.stop();
  assert.equal(state.runs, 4);
});

test('after a fault it pauses, logs it, and retries by itself', async () => {
  const fault = new Error('no database');
  const { state, run, onError } = counting([fault, false]);
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError });
  await until(() => state.runs === 2);
  await loop.stop();
  const [first = 0, second = 0] = state.at;
  assert.ok(second - first >= 450, `${second - first} ms`);
  assert.deepEqual(state.errors, [fault]);
});

test('wake-ups do not shorten the pause after a fault', async () => {
  const { state, run, onError } = counting([new Error('no database')]);
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError });
  await until(() => state.errors.length === 1);
  for (let i = 0; i < 10; i++) {
    loop.wake();
    await sleep(5);
  }
  assert.equal(state.runs, 1);
  await loop.stop();
});

test('consecutive faults double the pause, up to the poll interval', async () => {
  const faults = Array.from({ length: 10 }, () => new Error('no database'));
  const silent = counting(faults);
  const quick = counting(faults);
  const loops = [
    startLoop({ ...silent, name: 'silent', pollMs: NEVER }),
    startLoop({ ...quick, name: 'quick', pollMs: 10 }),
  ];
  await until(() => quick.state.runs === 3);
  await Promise.all(loops.map((loop) => loop.stop()));
  assert.equal(silent.state.runs, 2);
});

test('stopping lets the current run finish', async () => {
  let finished = false;
  const run = async () => {
    await sleep(40);
    finished = true;
    return true;
  };
  const loop = startLoop({ name: 'work', pollMs: NEVER, run, onError: () => {} });
  await sleep(5);
  await loop.stop();
  assert.equal(finished, true);
});

test('stopping ends the pause after a fault, and nothing runs afterwards', async () => {
  const { state, run, onError } = counting([new Error('no database')]);
  const loop = startLoop({ name: 'work', pollMs: 5, run, onError });
  await until(() => state.errors.length === 1);
  const started = performance.now();
  await loop.stop();
  assert.ok(performance.now() - started < 200);
  loop.wake();
  await sleep(20);
  assert.equal(state.runs, 1);
});
