import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  countNewer,
  type Pagination,
  pagesWithin,
  refreshed,
  rowsBefore,
  startPagination,
  totalRows,
  withNextPage,
  withoutGone,
  withPage,
} from './pagination.ts';

const same = (row: string) => row;

function paginationOf(...nexts: readonly (string | null)[]): Pagination {
  return nexts.reduce<Pagination>((pagination, next, index) => {
    const with1 = index === 0 ? pagination : withNextPage(pagination);
    return withPage(with1, index, { count: 50, next });
  }, startPagination(undefined));
}

test('each page begins where the previous one ends, and the last one reveals the total', () => {
  const pagination = paginationOf('a', 'b', null);
  assert.deepEqual(
    pagination.map(({ cursor }) => cursor),
    [undefined, 'a', 'b'],
  );
  assert.equal(rowsBefore(pagination, 2), 100);
  assert.equal(totalRows(pagination), 150);
  assert.equal(totalRows(paginationOf('a', 'b')), null);
  assert.equal(withNextPage(pagination), pagination, 'there is nothing behind the last page');
});

test('if the end of a page has moved, other pages follow it', () => {
  const pagination = paginationOf('a', 'b', 'c');
  assert.equal(withPage(pagination, 1, { count: 50, next: 'b' }), pagination);
  const moved = withPage(pagination, 1, { count: 50, next: 'x' });
  assert.deepEqual(
    withNextPage(moved).map(({ cursor }) => cursor),
    [undefined, 'a', 'x'],
  );
});

test('exactly the pages that overlap the viewport are rendered', () => {
  const heights = fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(heights, fc.nat(100_000), (pages, fromPx) => {
      const pagination = paginationOf(...pages.map((_, index) => `c${index}`));
      const heightOf = (index: number) => pages[index] ?? 0;
      const toPx = fromPx + 2_400;
      const within = pagesWithin(pagination, { heightOf, fromPx, toPx });
      const ends = pages.map((_, i) => pages.slice(0, i + 1).reduce((sum, px) => sum + px, 0));
      for (const [index, end] of ends.entries()) {
        const isSeen = end >= fromPx && end - heightOf(index) <= toPx;
        assert.equal(within.includes(index), isSeen);
      }
    }),
  );
  const waiting = withNextPage(paginationOf('a', 'b'));
  const far = { heightOf: () => 2_000, fromPx: 0, toPx: 800 };
  assert.deepEqual(pagesWithin(waiting, far), [0, 2], 'the page that is being read');
});

test('new rows at the top are counted and change nothing below', () => {
  const shown = ['e', 'd', 'c'];
  assert.equal(countNewer(shown, ['g', 'f', 'e'], same), 2);
  assert.equal(countNewer(shown, ['e', 'c', 'b'], same), 0, 'one that left makes room at the end');
  assert.equal(countNewer(shown, ['j', 'i', 'h'], same), 3);
  const rows = [{ id: 'e', status: 'pending' }];
  const now = [
    { id: 'f', status: 'pending' },
    { id: 'e', status: 'done' },
  ];
  assert.deepEqual(
    refreshed(rows, now, ({ id }) => id),
    [{ id: 'e', status: 'done' }],
  );
});

test('rows that left the list disappear, and rows that newer rows pushed down stay', () => {
  const head = { data: ['e', 'd', 'c', 'b'], has_more: true, next_cursor: 'b' };
  const left = (data: string[], isWhole = false) =>
    withoutGone(head, { page: { data }, isWhole }, same).data.join('');
  assert.equal(left(['e', 'c', 'b', 'a']), 'ecb', 'one was resolved');
  assert.equal(left(['g', 'f', 'e', 'd']), 'edcb', 'two have come');
  assert.equal(left(['f', 'e', 'c', 'b']), 'ecb', 'both');
  assert.equal(left(['j', 'i', 'h', 'g']), 'edcb', 'so many have come that none is known');
  assert.equal(left(['e', 'd'], true), 'ed', 'there are no others');
  assert.equal(withoutGone(head, { page: { data: head.data }, isWhole: false }, same), head);
});
