import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { present } from '#core/assert.ts';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { readTap, type Transceive } from '../../reader/src/index.ts';
import { NO_WALLETS } from '../../reader/src/settings.ts';
import { openTillFeed, type TillFeed } from '../../reader/src/till-feed.ts';
import { bankCard, tag } from '../../test/reader/emulated-phones.ts';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import { addTestTerminal, openTill, paymentsOf } from '../testing/till.ts';
import { USB_PORT } from './reader/usb.ts';

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

/** While the program does not run, each try to reach it is an error of the console. */
const AWAY = /WebSocket connection to 'ws:\/\/127\.0\.0\.1:4244/;

async function hold(feed: TillFeed, card: Transceive): Promise<void> {
  const found = await readTap(card, NO_WALLETS);
  feed.tell({ status: 'tapped', reader: 'Reader of a test', tap: found });
}

function startProgram(code: string | null, tokenHash: string | null, kept: string[] = []) {
  return openTillFeed({
    port: USB_PORT,
    origin: new URL(shared.sandbox.web_url).origin,
    code,
    tokenHash,
    onPaired: async (hash) => void kept.push(hash),
    onTill: () => {},
  });
}

test('a card that is held against a USB reader of this computer pays', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal });
  const { page } = till;
  const pass = tag({ text: present(sandbox.test.passes.ok, 'the pass ok') });
  const before = await page.request.get(`${sandbox.web_url}/terminal`);
  assert.doesNotMatch(before.headers()['content-security-policy'] ?? '', /ws:/);

  await page.goto(`${sandbox.web_url}/terminal/settings`);
  await page.getByRole('button', { name: /^Connect a USB reader/ }).click();
  const command = await page.getByRole('textbox', { name: 'Command' }).inputValue();
  const code = present(/--pair (\S+)/.exec(command)?.[1], 'a code');
  await page.getByText('The reader program does not run on this computer.').waitFor();
  await till.checkAccessibility();

  const kept: string[] = [];
  let feed = await startProgram(code, null, kept);
  await page.getByText('The program runs. No reader is plugged in.').waitFor();
  feed.tell({ status: 'ready', readers: ['Reader of a test'] });
  await page.getByText('Ready: Reader of a test').waitFor();

  await page.goto(`${sandbox.web_url}/terminal`);
  // Nothing is asked for: the card is read and pays nothing.
  await hold(feed, pass);
  await page.getByText('No pass is needed now').waitFor();
  await till.ask('2.50');
  await hold(feed, bankCard);
  await page.getByText('This card does not pay here.').waitFor();
  feed.tell({ status: 'tapped', reader: 'Reader of a test', tap: { status: 'two_cards' } });
  await page.getByText('Two cards at once.').waitFor();

  // The program ends and starts again: its till comes back by itself, without the code.
  await feed.close();
  const arrived = Promise.withResolvers<void>();
  feed = await openTillFeed({
    port: USB_PORT,
    origin: new URL(sandbox.web_url).origin,
    code: null,
    tokenHash: present(kept[0], 'what was kept'),
    onPaired: () => assert.fail('no code was given'),
    onTill: () => arrived.resolve(),
  });
  await arrived.promise;
  await hold(feed, pass);
  await till.result('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);

  await page.goto(`${sandbox.web_url}/terminal/settings`);
  await page.getByRole('button', { name: /^Remove the USB reader/ }).click();
  await page.getByRole('button', { name: /^Connect a USB reader/ }).waitFor();
  const removed = await page.request.get(`${sandbox.web_url}/terminal`);
  assert.doesNotMatch(removed.headers()['content-security-policy'] ?? '', /ws:/);
  await feed.close();
  till.checkClean(AWAY);
  await till.close();
});
