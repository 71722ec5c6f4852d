import assert from 'node:assert/strict';
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { readSecret } from '#ops/read-secret.ts';

/** Simulates a terminal with a user at the keyboard. */
function terminal() {
  const modes: boolean[] = [];
  const shown: string[] = [];
  const keyboard = new PassThrough();
  const stdin = Object.assign(keyboard, {
    isTTY: true,
    setRawMode(mode: boolean) {
      modes.push(mode);
      return this;
    },
  });
  const stderr = { write: (text: string) => shown.push(text) };
  return { stdin: stdin as unknown as NodeJS.ReadStream, stderr, modes, shown, keyboard };
}

describe('a secret that is typed at the terminal', () => {
  it('leaves the terminal open for the next question', async () => {
    const { stdin, stderr, modes, shown, keyboard } = terminal();
    const secret = readSecret('Key', { stdin, stderr });
    keyboard.write('0xa');
    keyboard.write('b\r');
    assert.equal(await secret, '0xab');
    assert.deepEqual(modes, [true, false]);
    assert.deepEqual(shown, ['Key: ', '\n']);
    const lines = createInterface({ input: stdin, output: new PassThrough() });
    const answer = lines.question('Type yes: ');
    keyboard.write('yes\n');
    assert.equal(await answer, 'yes');
    lines.close();
  });

  it('takes only its own line of pasted text', async () => {
    const { stdin, stderr, keyboard } = terminal();
    keyboard.write('wrox\u007fng\nyes\n');
    assert.equal(await readSecret('Key', { stdin, stderr }), 'wrong');
    const lines = createInterface({ input: stdin, output: new PassThrough() });
    assert.equal(await lines.question('Type yes: '), 'yes');
    lines.close();
  });
});
