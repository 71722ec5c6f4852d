import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkReadiness, type HealthCheck } from '#ops/readiness-checks.ts';

const check = (name: string, required: boolean, run: () => Promise<void>): HealthCheck => ({
  name,
  required,
  run,
});

const fine = async () => {};
const broken = async () => {
  throw new Error('away');
};

test('a process is ready while everything that it requires is available', async () => {
  const readiness = await checkReadiness([
    check('database', true, fine),
    check('testnet', false, broken),
  ]);
  assert.equal(readiness.status, 'ready');
  assert.equal(readiness.checks.database?.status, 'ok');
  assert.equal(readiness.checks.testnet?.status, 'failing');
});

test('without a required dependency it is not ready; a check that hangs has failed', async () => {
  const hanging = () => new Promise<void>(() => {});
  const started = performance.now();
  const readiness = await checkReadiness([
    check('database', true, hanging),
    check('testnet', false, fine),
  ]);
  assert.equal(readiness.status, 'not_ready');
  assert.ok(performance.now() - started < 3_000);
});
