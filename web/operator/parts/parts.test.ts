import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { progressOf } from './recovery-progress.ts';
import { paragraphOf } from './runbook-paragraph.ts';

test('the progress of a recovery is the share of its blocks that was read', () => {
  assert.deepEqual(progressOf({ from_block: '101', read_to: '150', head: '200' }), {
    share: 0.5,
    words: 'Block 150 of 200, 50 to go.',
  });
  assert.equal(progressOf({ from_block: '101', read_to: '200', head: '200' }).share, 0.99);
  assert.equal(progressOf({ from_block: '101', read_to: null, head: '200' }).share, null);
  assert.equal(progressOf({ from_block: '101', read_to: '150', head: null }).share, null);
});

test('an alarm shows its own runbook paragraph and no other', () => {
  const guide = readFileSync(new URL('../../../docs/operate.md', import.meta.url), 'utf8');
  const words = paragraphOf(guide, 'durability');
  assert.match(words ?? '', /^Commits are less durable than DATABASE_DURABILITY declares/);
  assert.doesNotMatch(words ?? '', /foreign_settlement|###/);
  assert.equal(paragraphOf(guide, 'no_such_alarm'), null);
});
