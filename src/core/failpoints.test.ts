import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { FAILPOINTS } from '#core/failpoints.ts';

const MODULE = path.join(import.meta.dirname, 'failpoints.ts');

function run(env: NodeJS.ProcessEnv) {
  const code = `
    const { failpoint } = await import(${JSON.stringify(MODULE)});
    for (let i = 0; i < 3; i++) {
      failpoint('settlement.broadcast_sent');
      console.log(i);
    }`;
  const args = ['--input-type=module', '--eval', code];
  const { signal, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return { signal, printed: stdout.trim().split('\n').filter(Boolean).length };
}

describe('a failpoint', () => {
  it('ends the process at once when a test has armed it', () => {
    const env = { TAPLINE_FAILPOINT: 'settlement.broadcast_sent' };
    assert.deepEqual(run(env), { signal: 'SIGKILL', printed: 0 });
  });

  it('ends it at the requested hit', () => {
    const env = { TAPLINE_FAILPOINT: 'settlement.broadcast_sent:3' };
    assert.deepEqual(run(env), { signal: 'SIGKILL', printed: 2 });
  });

  it('is used in the code: a test with an unused one would wait forever', () => {
    const files = globSync(path.join(import.meta.dirname, '../**/*.ts'));
    const code = files
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    assert.deepEqual(
      FAILPOINTS.filter((point) => !code.includes(`failpoint('${point}')`)),
      [],
    );
  });

  it('does nothing when another one is armed, and nothing at all in production', () => {
    assert.deepEqual(run({ TAPLINE_FAILPOINT: 'settlement.receipt_seen' }), {
      signal: null,
      printed: 3,
    });
    const env = { NODE_ENV: 'production', TAPLINE_FAILPOINT: 'settlement.broadcast_sent' };
    assert.deepEqual(run(env), { signal: null, printed: 3 });
  });
});
