import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, PHONE } from '../../web/testing/browser.ts';
import { addTestTerminal, openTill, type TillWindow } from '../../web/testing/till.ts';

/** The activity of an hour: a poll every ten seconds and a sale per minute. */
const POLLS = 360;
const SALES = 60;
/** The first sales load and compile code that later ones reuse. */
const WARM_UP = 5;
/** Time-out of a poll, plus a second. */
const POLL_TIMEOUT_MS = 16_000;
/** Variation of the browser's own memory. A leaked poll or sale would exceed it. */
const MOST_BYTES = 300_000;
/** Includes late compilation and the browser's request history. */
const MOST_FIRST_BYTES = 1_000_000;

interface Kept {
  readonly bytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

async function sell(till: TillWindow, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await till.ask('2.50');
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    await till.newPayment.click();
    await till.amount.waitFor();
  }
}

/** Aborts the current poll with each call, like a network that drops, and starts another. */
async function poll(till: TillWindow, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await till.page.evaluate(`window.dispatchEvent(new Event('online'))`);
    await till.page.waitForTimeout(50);
  }
}

async function measure(till: TillWindow): Promise<Kept> {
  // Waits until the time-out timers of all polls have expired.
  await till.page.waitForTimeout(POLL_TIMEOUT_MS);
  const session = await till.context.newCDPSession(till.page);
  await session.send('Performance.enable');
  for (let i = 0; i < 3; i++) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (expected: string) =>
    metrics.find(({ name }) => name === expected)?.value ?? Number.NaN;
  await session.detach();
  return {
    bytes: metric('JSHeapUsedSize'),
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  };
}

test('an hour of work leaves no more in a till than the hour before', async (t) => {
  const [{ sandbox, close }, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal, options: PHONE });
  await sell(till, WARM_UP);
  await poll(till, WARM_UP);
  const fresh = await measure(till);
  const hour = async () => {
    await sell(till, SALES);
    await poll(till, POLLS);
    return measure(till);
  };
  // Browsers record a limited number of a page's requests; the first hour fills that record.
  const before = await hour();
  const after = await hour();
  const inKb = (from: Kept, to: Kept) => `${Math.round((to.bytes - from.bytes) / 1000)} KB`;
  t.diagnostic(
    `${inKb(fresh, before)} more after an hour's work, ${inKb(before, after)} by another`,
  );
  assert.ok(after.bytes - before.bytes < MOST_BYTES, `${before.bytes} to ${after.bytes} bytes`);
  assert.ok(
    before.bytes - fresh.bytes < MOST_FIRST_BYTES,
    `${fresh.bytes} to ${before.bytes} bytes`,
  );
  assert.ok(after.nodes - before.nodes < 200, `${before.nodes} to ${after.nodes} nodes`);
  assert.ok(after.listeners - before.listeners < 20, JSON.stringify({ before, after }));
  till.checkClean();
  await till.close();
  await browser.close();
  await close();
});
