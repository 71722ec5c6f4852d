import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Hex } from '#settlement/chain-requests.ts';
import { openMemory } from '#signer/signed-nonces.ts';

/** Number of nonces that the memory keeps. The tests simulate a key that signs for years. */

const KEPT = 256;
const SIGNED = 1_500;
const PER_HOUR = 2_000;
const START = Date.UTC(2026, 0, 1);

let folder: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-memory-'));
});
after(() => rm(folder, { recursive: true }));

const bytesOf = (nonce: number): Hex => `0x${nonce.toString(16).padStart(64, '0')}`;

function lineOf(nonce: number, at: number) {
  const unsigned = bytesOf(nonce);
  return { nonce, unsigned, signed: `${unsigned}aa` as Hex, maxFeePerGas: '1000', at };
}

const request = (nonce: number, unsigned = bytesOf(nonce)) =>
  ({ nonce, unsigned, maxFeePerGas: 10_000n }) as const;

test('keeps the highest nonces, signs no lower ones, and counts the whole hour', async () => {
  const memory = await openMemory(folder, 'key');
  for (let nonce = 0; nonce < SIGNED; nonce++) await memory.note(lineOf(nonce, START + nonce));
  await memory.close();
  const file = path.join(folder, 'key.jsonl');
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  assert.ok(lines.length < SIGNED / 2, `${lines.length} lines`);
  // Read twice: a restarted signer must read the same state.
  for (const after of [await openMemory(folder, 'key'), await openMemory(folder, 'key')]) {
    const now = START + SIGNED;
    const limit = { perHour: PER_HOUR, now, used: null };
    const oldest = SIGNED - KEPT;
    const judged = (nonce: number, unsigned?: Hex) => after.judge(request(nonce, unsigned), limit);
    assert.deepEqual(judged(oldest), { kind: 'again', signed: `${bytesOf(oldest)}aa` });
    for (const nonce of [0, oldest - 1]) {
      // A forgotten nonce is never signed again: neither the same transaction nor another one,
      // whatever its fee.
      for (const unsigned of [bytesOf(nonce), bytesOf(9_999)]) {
        const refused = judged(nonce, unsigned);
        assert.ok(refused.kind === 'refused' && /older than those/.test(refused.reason));
      }
    }
    assert.equal(judged(SIGNED).kind, 'new');
    const full = after.judge(request(SIGNED), { ...limit, perHour: SIGNED });
    assert.ok(full.kind === 'refused' && /an hour/.test(full.reason), 'all are counted');
    assert.equal(after.judge(request(SIGNED), { ...limit, perHour: SIGNED + 1 }).kind, 'new');
    await after.close();
  }
});

test('a nonce that would be forgotten at once is not signed', async () => {
  const memory = await openMemory(folder, 'gap');
  for (let i = 0; i < KEPT; i++) await memory.note(lineOf(10 + i, START));
  const limit = { perHour: PER_HOUR, now: START, used: null };
  assert.equal(memory.judge(request(5), limit).kind, 'refused');
  assert.equal(memory.judge(request(10), limit).kind, 'again');
  await memory.close();
});

test('a nonce more than 64 above the highest signed one is not signed', async () => {
  const memory = await openMemory(folder, 'far');
  const kindOf = (nonce: number, used: number | null = null) =>
    memory.judge(request(nonce), { perHour: PER_HOUR, now: START, used }).kind;
  // Nothing was signed yet, so without nodes the key counts as new.
  assert.deepEqual(
    [0, 64, 65].map((nonce) => kindOf(nonce)),
    ['new', 'new', 'far'],
  );
  assert.deepEqual(
    [499, 500, 564, 565].map((nonce) => kindOf(nonce, 500)),
    ['far', 'new', 'new', 'far'],
  );
  await memory.note(lineOf(40, START));
  assert.deepEqual(
    [0, 41, 104, 105].map((nonce) => kindOf(nonce)),
    ['new', 'new', 'new', 'far'],
  );
  // The key was used elsewhere in the meantime.
  assert.equal(kindOf(500, 500), 'new');
  await memory.close();
});

test('a thief of the token cannot make a key unusable if nodes are configured', async () => {
  for (const step of [1, 64]) {
    const memory = await openMemory(folder, `step-${step}`);
    const limit = { perHour: PER_HOUR, now: START, used: 100 };
    let signed = 0;
    for (let nonce = 100; memory.judge(request(nonce), limit).kind === 'new'; nonce += step) {
      await memory.note(lineOf(nonce, START));
      signed++;
    }
    assert.equal(signed, KEPT, 'the next one would have forgotten a nonce that is not used');
    for (const nonce of [100, 101]) {
      // Each transaction can be replaced or, once the chain has used the earlier nonces, signed.
      const outbids = memory.judge(request(nonce, bytesOf(9_999)), { ...limit, used: nonce });
      assert.equal(outbids.kind, 'new', `nonce ${nonce}`);
    }
    const far = 100 + KEPT * step;
    assert.equal(
      memory.judge(request(far), { ...limit, used: far - 1 }).kind,
      'new',
      'the chain advanced',
    );
    await memory.close();
  }
});
