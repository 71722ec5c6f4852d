import '../../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pages } from '../pages.ts';
import { pageFor } from './find-page-by-words.ts';

test('a page is found by its name, its first letters, and by the task that it is for', () => {
  const all = pages();
  const found = (typed: string) => pageFor(typed, all)?.name;
  for (const { name } of all) assert.equal(found(name.toLowerCase()), name);
  const expected: Readonly<Record<string, string>> = {
    withdraw: 'Balance',
    'invite colleague': 'Team',
    tills: 'Terminals',
    'audit history': 'Audit log',
    'req log': 'Request log',
    'time zone': 'Settings',
  };
  for (const [typed, name] of Object.entries(expected)) assert.equal(found(typed), name);
  assert.equal(found('coffee 17'), undefined);
  assert.equal(found(' – '), undefined);
});
