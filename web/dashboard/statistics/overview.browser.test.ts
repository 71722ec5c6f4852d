import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { dayAfter, dayIn } from '#core/calendar.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { payAt } from '../../testing/desk.ts';
import { measureFirstLoad } from '../../testing/payload.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { listAsMerchant, postAsMerchant, setShop } from '../../testing/till.ts';

/** The limit is 130 kB of 1,000 bytes each, in every account (`sign-in.browser.test.ts`). */
const BUDGET_BYTES = 130_000;

const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

test('the first load with prices, sales and declines stays within its budget', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  const presentment = { currency: 'eur', amount: 350 };
  for (const pass of ['ok', 'ok', 'insufficient_funds'] as const) {
    const { intent, payment } = await payAt(sandbox, { terminal, presentment, pass });
    if (payment === '') await postAsMerchant(sandbox, `/payment_intents/${intent}/cancel`);
  }
  const window = await openSignedIn(stage(), 'dashboard');
  const size = await measureFirstLoad(window, `${sandbox.web_url}/dashboard`);
  assert.ok(size <= BUDGET_BYTES, `${size} bytes`);
  const { page } = window;
  await page.getByRole('link', { name: /Not enough money/ }).waitFor();
  await page.getByText('At €1 = ').waitFor();
  await window.closeClean();
});

/** Returns a zone in which it is 6 o'clock. The names of these zones have the opposite sign. */
function zoneAtSix(now: Date): string {
  const ahead = ((6 - now.getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${ahead > 0 ? '' : '+'}${-ahead}`;
}

test('a later start of days leaves the running day, and holds for later ones', async () => {
  const { sandbox, db } = stage();
  const now = new Date();
  const zone = zoneAtSix(now);
  await setShop(sandbox, { time_zone: zone });
  const shown = async () => {
    const window = await openSignedIn(stage(), 'dashboard');
    const { page } = window;
    const heading = page.getByRole('heading', { name: 'Today so far' });
    const figures = page.locator('section', { has: heading }).locator('dd');
    await figures.nth(1).getByText('2', { exact: true }).waitFor();
    const link = (await page.locator('.chart a').last().getAttribute('href')) ?? '';
    await page.goto(`${sandbox.web_url}/dashboard/balance`);
    const day = await page.getByLabel('Day', { exact: true }).inputValue();
    await window.closeClean();
    return [new URL(link, sandbox.web_url).searchParams.get('from'), day];
  };
  await setShop(sandbox, { day_starts_at: '11:59' });
  const today = dayIn(zone, now);
  assert.deepEqual(await shown(), [today, today]);
  const rules = JSON.stringify({
    at: '11:59',
    test: [{ from: '2020-01-01', at: '11:59' }],
    live: [],
  });
  await db.query('update accounts set day_starts = $2::text::jsonb where id = $1', [
    ...[sandbox.account, rules],
  ]);
  const before = dayAfter(today, -1);
  // Six in the morning is before 11:59. The service may still know the former rules.
  const isDayBefore = async () => isDeepStrictEqual(await shown(), [before, before]);
  await eventually('the day before', isDayBefore, 60_000);
});

/** The longest time between a sale's end and its place in every figure (decisions 28). */
const LIVE_MS = 2_000;

test('sums, counts and chart follow a sale and a refund within two seconds', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  await setShop(sandbox, { day_starts_at: '00:00' });
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  await window.idle();
  const figure = (name: string, at = 0) => {
    const term = page.getByRole('term').filter({ hasText: new RegExp(`^${name}$`) });
    return term.nth(at).locator('xpath=../dd').textContent();
  };
  const read = async () => ({
    salesToday: await figure('Sales'),
    paymentsToday: await figure('Payments'),
    balance: await figure('Balance'),
    sales: await figure('Sales', 1),
    payments: await figure('Payments', 1),
    chart: await page.locator('.chart a').last().getAttribute('aria-label'),
  });
  type Read = Awaited<ReturnType<typeof read>>;
  const changed = (before: Read, names: readonly (keyof Read)[]) =>
    eventually(
      `new ${names}`,
      async () => {
        const now = await read();
        return names.every((name) => now[name] !== before[name]);
      },
      LIVE_MS,
    );
  const before = await read();
  const presentment = { currency: 'eur', amount: 350 };
  const { payment } = await payAt(sandbox, { terminal, presentment, pass: 'ok' });
  await changed(before, Object.keys(before) as (keyof Read)[]);
  const paid = await read();
  for (const sum of [paid.salesToday, paid.sales]) assert.match(sum ?? '', /^€[\d.]+.* USDC/);
  const refund = await postAsMerchant(sandbox, '/refunds', { payment });
  await eventually('the refund', async () => {
    const refunds = await listAsMerchant(sandbox, `/refunds?payment=${payment}`);
    return refunds[0]?.id === refund.id && refunds[0]?.status === 'succeeded';
  });
  await changed(paid, ['balance']);
  await window.closeClean();
});
