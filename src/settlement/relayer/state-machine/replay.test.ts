import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fromText, type History, replay } from '#testkit/fixtures/settlement/step-history.ts';
import { PLANTED } from '#testkit/simulation/relayer-model/faults.ts';

/**
 * Histories that were recorded in chaos runs and with misbehaving nodes (`test/faults/README.md`).
 */
const FOLDER = path.join(import.meta.dirname, '../../../../test/faults/histories');

const histories = readdirSync(FOLDER).flatMap((name) => {
  const lines = readFileSync(path.join(FOLDER, name), 'utf8').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [{ name, history: fromText<History>(line) }]));
});

describe('histories of relayers in trouble', () => {
  it('have the same phases and effects when their observations are replayed', () => {
    assert(histories.length > 0, 'there are no histories');
    for (const { name, history } of histories) {
      assert.deepEqual(replay(history), [], `${name}, transaction ${history.start.id}`);
    }
  });

  it('are long enough to reveal mistakes in `step`', (test) => {
    const shown = PLANTED.filter(({ step }) =>
      histories.some(({ history }) => {
        try {
          return replay(history, step).length > 0;
        } catch {
          return true;
        }
      }),
    );
    test.diagnostic(`${shown.length} of ${PLANTED.length} planted mistakes show`);
    assert(shown.length >= PLANTED.length / 2);
  });
});
