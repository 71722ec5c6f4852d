import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Hex } from '#settlement/requests.ts';
import { openMemory } from '#signer/memory.ts';

/** What a signer keeps of a key that signs for years. */

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

const asked = (nonce: number, unsigned = bytesOf(nonce)) =>
  ({ nonce, unsigned, maxFeePerGas: 10_000n }) as const;

test('keeps the highest nonces, signs none below, and counts all of the hour', async () => {
  const memory = await openMemory(folder, 'key');
  for (let nonce = 0; nonce < SIGNED; nonce++) await memory.note(lineOf(nonce, START + nonce));
  await memory.close();
  const file = path.join(folder, 'key.jsonl');
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  assert.ok(lines.length < SIGNED / 2, `${lines.length} lines`);
  // What a restart reads is what was there.
  for (const after of [await openMemory(folder, 'key'), await openMemory(folder, 'key')]) {
    const now = START + SIGNED;
    const limit = { perHour: PER_HOUR, now };
    const oldest = SIGNED - KEPT;
    const judged = (nonce: number, unsigned?: Hex) => after.judge(asked(nonce, unsigned), limit);
    assert.deepEqual(judged(oldest), { kind: 'again', signed: `${bytesOf(oldest)}aa` });
    for (const nonce of [0, oldest - 1]) {
      // Neither the same bytes, which are gone, nor others, whatever they offer.
      for (const unsigned of [bytesOf(nonce), bytesOf(9_999)]) {
        const refused = judged(nonce, unsigned);
        assert.ok(refused.kind === 'refused' && /below those/.test(refused.reason));
      }
    }
    assert.equal(judged(SIGNED).kind, 'new');
    const full = after.judge(asked(SIGNED), { perHour: SIGNED, now });
    assert.ok(full.kind === 'refused' && /in an hour/.test(full.reason), 'all are counted');
    assert.equal(after.judge(asked(SIGNED), { perHour: SIGNED + 1, now }).kind, 'new');
    await after.close();
  }
});

test('a nonce that would be forgotten at once is not signed', async () => {
  const memory = await openMemory(folder, 'gap');
  for (let i = 0; i < KEPT; i++) await memory.note(lineOf(10 + i, START));
  const limit = { perHour: PER_HOUR, now: START };
  assert.equal(memory.judge(asked(5), limit).kind, 'refused');
  assert.equal(memory.judge(asked(10), limit).kind, 'again');
  await memory.close();
});
