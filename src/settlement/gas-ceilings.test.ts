import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  AUTHORIZED_PAYMENT_GAS,
  DEPLOYMENT_GAS,
  ENROLMENT_GAS,
  TRANSACTION_GAS_CAP,
  TRANSFER_GAS,
} from '#settlement/gas-ceilings.ts';
import {
  authorizedGasLimit,
  batchGasLimit,
  cancellationGasLimit,
  FULL_BATCH_GAS,
  gasCapOf,
} from '#settlement/relayer/send/gas-limits.ts';
import {
  FIXED_TODAY,
  limitOf,
  NEWEST,
  type Need,
  SPLIT,
} from '../../contracts/gas-rules/limits.ts';
import { LARGEST } from '../../contracts/gas-rules/measure-paths.ts';
import { headroom, renderPage } from '../../contracts/gas-rules/page.ts';
import { TRANSACTION_CAP } from '../../contracts/gas-rules/prices.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const NEEDS: readonly Need[] = JSON.parse(
  await readFile(path.join(ROOT, 'contracts/gas-rules/needs.json'), 'utf8'),
);
const VERSION_1 = { pull: 200_000n, signature: 500_000n };
/** EIP-8037 does not count gas for state, so that only operators' patience and nodes limit it. */
const MOST_STATE_OF_A_STEP = 40_000_000;

test("each limit leaves a fifth of what real USDC needs, now and at Glamsterdam's prices", () => {
  assert.ok(NEEDS.length >= 24, `${NEEDS.length} paths`);
  for (const { path: name, today, glamsterdam } of NEEDS) {
    for (const need of [today, glamsterdam.needed]) {
      const limit = limitOf(name, need);
      const isFixed = name === FIXED_TODAY && need === today;
      if (limit === null || isFixed) continue;
      assert.ok(headroom(need, limit) >= 20, `${name}: ${need} of ${limit}`);
      if (!name.startsWith('deployment: ')) assert.ok(limit <= TRANSACTION_GAS_CAP, name);
    }
  }
});

test('no step of a deployment needs over 16.7 million regular or 40 million state gas', () => {
  const steps = NEEDS.filter(({ path: name }) => name.startsWith('deployment: '));
  assert.equal(steps.length, 3);
  for (const { path: name, today, glamsterdam } of steps) {
    assert.ok(Math.max(today, glamsterdam.regular) * 1.2 <= TRANSACTION_CAP, name);
    assert.ok(glamsterdam.state <= MOST_STATE_OF_A_STEP, `${name}: ${glamsterdam.state}`);
  }
});

test('the contract gives each pull a fifth more than it needs, beside a signature', () => {
  const sales = NEEDS.filter(({ path: name }) => /sale|batch/.test(name));
  const signed = NEEDS.filter(({ path: name }) => /^authorization (by a key|into)/.test(name));
  const needed = (from: readonly Need[]) =>
    Math.max(...from.flatMap(({ pull }) => [pull.today, pull.glamsterdam]));
  assert.ok(needed(sales) > 100_000 && needed(signed) > needed(sales));
  assert.ok(headroom(needed(signed), NEWEST.pull) >= 20);
  assert.ok(headroom(needed(sales), VERSION_1.pull) >= 20, 'version 1, for sales with a policy');
});

test('a batch that needs more than a full one is split; a full one costs what it did', () => {
  assert.equal(limitOf(SPLIT, 1), null);
  const far = (count: number) =>
    batchGasLimit({ payments: count, words: count, merchants: 2, contract: NEWEST });
  assert.ok(far(LARGEST) <= FULL_BATCH_GAS && far(LARGEST + 1) > FULL_BATCH_GAS);
  assert.ok(FULL_BATCH_GAS <= 21_000n + 100_000n + 215_000n + 100n * 75_000n);
});

test('a contract that gives less to a pull needs less for a payment', () => {
  const size = { payments: 1, words: 1, merchants: 1 };
  const [before, now] = [VERSION_1, NEWEST].map((contract) => batchGasLimit({ ...size, contract }));
  assert.ok((before ?? 0n) < (now ?? 0n));
  assert.ok(authorizedGasLimit(65, VERSION_1) < authorizedGasLimit(65, NEWEST));
});

test('a cancellation gets what a chain wants, from 21,000 to twenty times that', () => {
  for (const [estimate, limit] of [
    [1n, 21_000n],
    [12_000n, 21_000n],
    [21_000n, 21_000n],
    [60_000n, 72_000n],
    [10n ** 9n, 420_000n],
  ] as const) {
    assert.equal(cancellationGasLimit(estimate), limit);
  }
});

test('a call that a stranger signs never gets more gas than its ceiling', () => {
  const call = { to: '0x', data: '0x' } as const;
  assert.equal(gasCapOf('transfer', call), TRANSFER_GAS);
  assert.equal(gasCapOf('enrolment', call), ENROLMENT_GAS);
  assert.equal(gasCapOf('wallet_deployment', call), DEPLOYMENT_GAS);
  assert.ok(authorizedGasLimit(0, NEWEST) <= AUTHORIZED_PAYMENT_GAS, 'what a budget counts');
  assert.ok(authorizedGasLimit(10 ** 9, NEWEST) <= TRANSACTION_GAS_CAP);
});

test('docs/gas-rules.md shows these limits', async () => {
  const page = await readFile(path.join(ROOT, 'docs/gas-rules.md'), 'utf8');
  assert.equal(page, renderPage(NEEDS), 'run: node contracts/gas-rules/write-page.ts');
});
