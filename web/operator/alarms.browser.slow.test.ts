import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP } from '../testing/browser.ts';
import { drawnRows, scrollThrough } from '../testing/long-list.ts';
import { addStaff, signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests a list of thousands of alarms, as after a day of failures. */

const ROWS = 3_000;

const stage = ownStage(async ({ db }) => {
  await db.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     select false, 'foreign_settlement', 'tap ' || i, '{}', now() from generate_series(1, $1) i`,
    [ROWS],
  );
});

test('every alarm is listed once, few are rendered, and a resolved one disappears', async () => {
  const { sandbox, browser, db } = stage();
  const window = await browser.open(DESKTOP);
  const { page } = window;
  const person = await addStaff(db, 'anna@alarms.test');
  await signInAsStaff(window, { sandbox, person, path: 'operator/alarms' });
  await page.getByRole('table', { name: 'Alarms' }).waitFor();
  await window.checkAccessibility();
  const list = { page, label: 'Alarms', nameAt: 'td .id' };
  const seen = await scrollThrough(list);
  const places = [...seen].sort(([one], [other]) => one - other).map(([, name]) => name);
  const expected = Array.from({ length: ROWS }, (_, index) => `tap ${ROWS - index}`);
  assert.deepEqual(places, expected);
  await window.checkAccessibility();

  // Closes an alarm on a page far down the list, and one on the first page while the list's start
  // is out of sight.
  for (const gone of ['tap 3', `tap ${ROWS - 30}`]) {
    const row = page.getByRole('row').filter({ has: page.getByText(gone, { exact: true }) });
    if ((await row.count()) === 0) await page.evaluate(() => scrollTo(0, 0));
    await row.getByRole('button', { name: /^Resolve/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Looked into.');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    const { rows } = await drawnRows(list);
    assert.ok(!rows.some(([, name]) => name === gone));
  }
  const open = await db.query<{ count: number }>(
    'select count(*)::int as count from chain_alarms where resolved_at is null',
  );
  assert.equal(open[0]?.count, ROWS - 2);
  await window.closeClean();
});
