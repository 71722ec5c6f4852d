import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonArrayOf } from '#db/json-array.ts';
import { testDatabase } from '#testing/database.ts';

const ROWS = [{ name: 'Zoë', price: 2 }, { name: '€ 5 ☕ 𝄞' }, { name: '"[{,\\' }];
const TEXTS = ROWS.map((row) => JSON.stringify(row));

describe('a JSON array for a statement', () => {
  test('is the array of its texts, in UTF-8', () => {
    for (const texts of [[], TEXTS.slice(0, 1), TEXTS]) {
      const array = jsonArrayOf(texts);
      assert.equal(array.bytes.toString(), `[${texts.join(',')}]`);
      array.release();
    }
  });

  test('arrives in PostgreSQL as it is', async () => {
    const store = await testDatabase();
    const array = jsonArrayOf(TEXTS);
    const rows = await store.db.query<{ row: unknown }>(
      'select row from json_array_elements($1::json) as row',
      [array.bytes],
    );
    array.release();
    await store.close();
    assert.deepEqual(
      rows.map(({ row }) => row),
      ROWS,
    );
  });

  test('keeps its bytes until it is released, whatever others are made meanwhile', () => {
    const first = jsonArrayOf(TEXTS);
    const second = jsonArrayOf(['1']);
    second.release();
    const third = jsonArrayOf(['2', '3']);
    assert.equal(first.bytes.toString(), `[${TEXTS.join(',')}]`);
    assert.equal(third.bytes.toString(), '[2,3]');
    first.release();
    third.release();
  });

  test('uses released memory again, and for one only though it was released twice', () => {
    const first = jsonArrayOf(['1']);
    first.release();
    first.release();
    const second = jsonArrayOf(['2']);
    const third = jsonArrayOf(['3']);
    assert.equal(second.bytes.buffer, first.bytes.buffer);
    assert.notEqual(third.bytes.buffer, second.bytes.buffer);
    assert.deepEqual([second.bytes.toString(), third.bytes.toString()], ['[2]', '[3]']);
    second.release();
    third.release();
  });

  test('has room for what is larger than usual', () => {
    const large = JSON.stringify('€'.repeat(200_000));
    const array = jsonArrayOf([large, large]);
    assert.equal(array.bytes.toString(), `[${large},${large}]`);
    array.release();
  });
});
