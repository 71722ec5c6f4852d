import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '#db/table.ts';

const things = table('things', { id: 'text', rule: 'jsonb?', count: 'int' }, { hash: 'bytea' });

test('an insert writes its values, JSON as text, and returns the stored row', async () => {
  const sent: { text: string; values: readonly unknown[] }[] = [];
  const tx = {
    inTransaction: true as const,
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      sent.push({ text: text.replace(/\s+/g, ' '), values });
      return [{ id: 'a' }] as Row[];
    },
  };
  await things.insert(tx, { id: 'a', rule: { b: 1 }, hash: Buffer.from('c') });
  await things.insert(tx, { id: 'a', rule: null });
  assert.deepEqual(sent, [
    {
      text:
        'insert into things (id, rule, hash) values ($1, $2::text::jsonb, $3) ' +
        'returning id, rule, count',
      values: ['a', '{"b":1}', Buffer.from('c')],
    },
    {
      text: 'insert into things (id, rule) values ($1, $2::text::jsonb) returning id, rule, count',
      values: ['a', null],
    },
  ]);
});

test('an update numbers its values after those of its condition', async () => {
  const sent: unknown[] = [];
  const tx = {
    inTransaction: true as const,
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      sent.push(text, values);
      return [] as Row[];
    },
  };
  const which = { where: 'id = $1 and count = $2', values: ['a', 1], also: 'count = count + 1' };
  await things.update(tx, { rule: { b: 1 }, hash: Buffer.from('c') }, which);
  assert.deepEqual(sent, [
    'update things set rule = $3::text::jsonb, hash = $4, count = count + 1 ' +
      'where id = $1 and count = $2 returning id, rule, count',
    ['a', 1, '{"b":1}', Buffer.from('c')],
  ]);
});

test('an unknown column name never becomes part of a statement', async () => {
  const tx = { inTransaction: true as const, query: () => assert.fail('it was sent') };
  const row: object = { 'id) select 1 --': 'a' };
  await assert.rejects(things.insert(tx, row));
});
