import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { readTap, type Transceive } from '../../reader/src/index.ts';
import { openTillFeed, type TillFeed } from '../../reader/src/serve-browser-till.ts';
import { NO_WALLETS } from '../../reader/src/till-settings.ts';
import { haloChip } from '../../reader/test/emulated-chips.ts';
import { bankCard, tag } from '../../reader/test/emulated-phones.ts';
import { fundedAccount } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { newTill, paymentsOf } from '../testing/till.ts';
import { USB_PORT } from './reader/usb-reader.ts';

const stage = sharedStage();

/** While the program is not running, each connection attempt logs a console error. */
const AWAY = /WebSocket connection to 'ws:\/\/127\.0\.0\.1:4244/;

async function hold(feed: TillFeed, card: Transceive): Promise<void> {
  const current = await readTap(card, NO_WALLETS, feed.toSign);
  feed.tell({ status: 'tapped', reader: 'Reader of a test', tap: current });
}

/** Starts the program. `nextTill` resolves when a page connects after the call. */
async function startProgram(code: string | null, tokenHash: string | null) {
  const kept: string[] = [];
  let arrive = () => {};
  const feed = await openTillFeed({
    port: USB_PORT,
    origin: new URL(stage().sandbox.web_url).origin,
    code,
    tokenHash,
    onPaired: async (hash) => void kept.push(hash),
    onTill: (isThere) => {
      if (isThere) arrive();
    },
  });
  const nextTill = () =>
    new Promise<void>((resolve) => {
      arrive = resolve;
    });
  return { feed, kept, nextTill };
}

test('a card held to this computer’s USB reader pays', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  const pass = tag({ text: present(sandbox.test.passes.ok, 'the pass ok') });
  const before = await page.request.get(`${sandbox.web_url}/terminal`);
  assert.doesNotMatch(before.headers()['content-security-policy'] ?? '', /ws:/);

  await page.goto(`${sandbox.web_url}/terminal/settings`);
  await page.getByRole('button', { name: /^Connect a USB reader/ }).click();
  const command = await page.getByRole('textbox', { name: 'Command' }).inputValue();
  // Installing the network's own file keeps npx from running a stranger's package of that name.
  const download = `curl -O ${sandbox.web_url}/packages/tapline-reader.tgz`;
  const start = `${download} && npm i ./tapline-reader.tgz && npx tapline-reader --till `;
  assert.ok(command.startsWith(start), command);
  const code = present(/--pair (\S+)/.exec(command)?.[1], 'a code');
  await page.getByText('The reader program is not running on this computer.').waitFor();
  await till.checkAccessibility();

  const first = await startProgram(code, null);
  const { feed, kept } = first;
  await page.getByText('The program is running, but no reader is plugged in.').waitFor();
  feed.tell({ status: 'ready', readers: ['Reader of a test'] });
  await page.getByText('Ready: Reader of a test').waitFor();

  const reloaded = first.nextTill();
  await page.goto(`${sandbox.web_url}/terminal`);
  await reloaded;
  // No payment waits, so the card is read and pays nothing.
  await hold(feed, pass);
  await page.getByText('No pass is needed now').waitFor();
  await till.ask('2.50');
  await hold(feed, bankCard);
  await page.getByText('This card is not accepted here.').waitFor();
  feed.tell({ status: 'tapped', reader: 'Reader of a test', tap: { status: 'two_cards' } });
  await page.getByText('Two cards were read at once.').waitFor();

  // The program restarts; the till reconnects without the code.
  await feed.close();
  const again = await startProgram(null, present(kept[0], 'what was kept'));
  await again.nextTill();
  await hold(again.feed, pass);
  await till.result('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);

  // A chip signs only while a payment waits.
  const account = await fundedAccount(sandbox, 10_000_000n);
  await till.newPayment.click();
  // The first message may still be visible when the second appears, so wait until it disappears.
  await page.getByText('No pass is needed now').waitFor({ state: 'hidden' });
  await hold(again.feed, haloChip(account));
  await page.getByText('No pass is needed now').waitFor();
  await till.ask('1.50');
  await hold(again.feed, haloChip(account));
  await till.result('Paid').waitFor();
  const [last] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(last?.payment_method, { type: 'wallet', credential: 'chip' });

  await page.goto(`${sandbox.web_url}/terminal/settings`);
  await page.getByRole('button', { name: /^Remove the USB reader/ }).click();
  await page.getByRole('button', { name: /^Connect a USB reader/ }).waitFor();
  const removed = await page.request.get(`${sandbox.web_url}/terminal`);
  assert.doesNotMatch(removed.headers()['content-security-policy'] ?? '', /ws:/);
  await again.feed.close();
  till.checkClean(AWAY);
  await till.close();
});
