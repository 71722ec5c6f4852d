import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import { readTap } from '../../reader/src/index.ts';
import { openTillFeed, type TillFeed } from '../../reader/src/serve-browser-till.ts';
import { googlePhone } from '../../reader/test/emulated-phones.ts';
import { DESKTOP, PHONE } from '../testing/browser.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { signInAsStaff } from '../testing/staff.ts';
import { type OwnStage, ownStage } from '../testing/stage.ts';
import { addTestTerminal, openTill, paymentsOf, postAsMerchant } from '../testing/till.ts';

/**
 * Follows a key from the operator's console to a phone that pays at a till, in a private sandbox.
 */

const COLLECTOR_ID = 20_180_608;
const PORT = 4244;
/** Expected console errors: `tapline-reader` is not running, or the service refused. */
const EXPECTED = /WebSocket connection to 'ws:\/\/127\.0\.0\.1:4244|status of 409/;

const stage = ownStage();

/** Returns the value of the pass `ok` in Google Wallet. */
async function valueOfPass({ sandbox, db }: OwnStage): Promise<string> {
  const [pass] = await db.query<{ id: string }>('select id from passes where hash = $1', [
    hashSecret(present(sandbox.test.passes.ok, 'the pass ok')),
  ]);
  const { value } = await postAsMerchant(sandbox, `/test_helpers/passes/${pass?.id}/smart_tap`);
  return Buffer.from(String(value), 'base64url').subarray(33).toString();
}

/** Creates and activates a key as an operator. @returns its private half. */
async function makeKey(
  { sandbox, browser }: OwnStage,
  size: typeof PHONE | typeof DESKTOP,
): Promise<string> {
  const window = await browser.open(size);
  await signInAsStaff(window, { sandbox, path: 'operator/settings' });
  const { page } = window;
  const button = (name: RegExp) => page.getByRole('button', { name });
  await page.getByText('No keys yet').waitFor();
  await button(/^Create a key/).click();
  const send = page.getByRole('dialog').getByRole('button', { name: 'Create a key' });
  await send.click();
  await page.getByText('Enter the number that Google assigned.').waitFor();
  await page.getByRole('textbox', { name: 'Collector ID' }).fill(String(COLLECTOR_ID));
  await page.getByRole('textbox', { name: 'Reason' }).fill('Readers for the market hall.');
  await send.click();
  const key = page.getByRole('textbox', { name: 'Private key' });
  await key.waitFor();
  await window.checkAccessibility();
  const privateKey = await key.inputValue();
  await button(/^Done/).click();
  await page.getByText('Not used yet').waitFor();
  await button(/^Use key 1/).click();
  await page.getByRole('textbox', { name: 'Reason' }).fill('It is registered.');
  await page.getByRole('dialog').getByRole('button', { name: 'Use' }).click();
  await page.getByText('In use', { exact: true }).waitFor();
  await window.checkAccessibility();
  await window.closeClean();
  return privateKey;
}

test('with a key from the console and a switch in the dashboard, a phone pays', async () => {
  const { sandbox, browser } = stage();
  const collectorKey = createPrivateKey(await makeKey(stage(), DESKTOP));
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal });
  const { page } = till;
  await page.goto(`${sandbox.web_url}/terminal/settings`);
  await page.getByRole('button', { name: /^Connect a USB reader/ }).click();
  const command = await page.getByRole('textbox', { name: 'Command' }).inputValue();
  await page.getByText('The reader program is not running on this computer.').waitFor();
  let arrive = () => {};
  const feed = await openTillFeed({
    port: PORT,
    origin: new URL(sandbox.web_url).origin,
    code: present(/--pair (\S+)/.exec(command)?.[1], 'a code'),
    tokenHash: null,
    onPaired: async () => {},
    onTill: (isThere) => {
      if (isThere) arrive();
    },
  });
  await page.getByText('The program is running, but no reader is plugged in.').waitFor();
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.goto(`${sandbox.web_url}/terminal`);
  await arrived;

  const value = await valueOfPass(stage());
  await till.ask('2.50');
  assert.equal(await hold(feed, { collectorKey, value }), 'no_pass');
  await page.getByText('no pass for this shop').first().waitFor();

  const desk = await openSignedIn(stage(), `dashboard/terminals/${terminal.id}`, PHONE);
  await desk.page.getByRole('button', { name: 'Turn Smart Tap on' }).click();
  await desk.page.getByRole('button', { name: 'Turn Smart Tap off' }).waitFor();
  await desk.checkAccessibility();
  await desk.closeClean();

  assert.equal(await hold(feed, { collectorKey, value }), 'read');
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet_pass', credential: 'smart_tap' });
  await feed.close();
  await till.closeClean(EXPECTED);
});

async function hold(
  feed: TillFeed,
  pass: Pick<Parameters<typeof googlePhone>[0], 'collectorKey' | 'value'>,
): Promise<string> {
  const phone = googlePhone({ collectorId: COLLECTOR_ID, ...pass });
  const collector = feed.proveCollector;
  const tap = await readTap(phone.transceive, { collector, passType: null });
  feed.tell({ status: 'tapped', reader: 'Reader of a test', tap });
  return tap.status;
}
