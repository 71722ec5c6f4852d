import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import { mnemonicToAccount } from 'viem/accounts';
import { addVirtualPasskeys, PHONE } from '../testing/browser.ts';
import { addressIn } from '../testing/browser-wallet.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  readyWallet,
  tapPass,
  WALLET_PASSWORD,
  type WalletWindow,
  walletOf,
} from '../testing/wallet.ts';

const stage = sharedStage();

const words = ({ page }: WalletWindow) => page.getByRole('dialog').getByRole('listitem');

/** Opens the words behind the button. @returns them. */
async function readPhrase(wallet: WalletWindow): Promise<string> {
  await wallet.button(/^Recovery phrase/).click();
  const password = wallet.field('Wallet password');
  if (await password.isVisible()) await password.fill(WALLET_PASSWORD);
  await wallet.inDialog(/^Recovery phrase/).click();
  await words(wallet).nth(11).waitFor();
  return (await words(wallet).allInnerTexts()).join(' ');
}

/** Types the words that the wallet asks for, the last one of them as given. */
async function typeWords(wallet: WalletWindow, phrase: string, last?: string): Promise<void> {
  const fields = await wallet
    .dialog()
    .getByLabel(/^Word \d+$/)
    .all();
  assert.equal(fields.length, 3);
  for (const [at, field] of fields.entries()) {
    const label = await field.evaluate(
      (input) => (input as HTMLInputElement).labels?.[0]?.textContent,
    );
    const word = phrase.split(' ')[Number(label?.replace('Word ', '')) - 1] ?? '';
    await field.fill(at === 2 && last !== undefined ? last : word);
  }
  await wallet.inDialog(/^Check/).click();
}

test('after the first payment three words prove that the phrase is written down', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await wallet.goTo('Home');
  await wallet.sees('No payments yet');
  assert.equal(await wallet.button(/^Recovery phrase/).count(), 0, 'nothing was paid yet');
  await tapPass(sandbox, { terminal, pass, amount: 1_000_000 });
  await wallet.sees(/Safari deletes .* seven days/);
  const phrase = await readPhrase(wallet);
  assert.equal(mnemonicToAccount(phrase).address, await addressIn(page));
  assert.ok(await page.getByRole('dialog').locator('ol').isVisible());
  await wallet.checkAccessibility();

  const copied = await page.evaluate(() => {
    const list = document.querySelector('dialog ol');
    return list?.dispatchEvent(new ClipboardEvent('copy', { bubbles: true, cancelable: true }));
  });
  assert.equal(copied, false, 'the words are not copied');
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  const found = phrase.split(' ').filter((word) => kept.includes(`${word} `));
  assert.deepEqual(found, [], 'the words are not stored');
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
  await wallet.sees('The words are hidden, because this page was left.');
  assert.equal(await words(wallet).count(), 0);
  await wallet.inDialog(/^Show them again/).click();
  await wallet.inDialog(/^I’ve written them down/).click();
  await typeWords(wallet, phrase, 'zebra');
  await wallet.sees(/^That isn’t word \d+/);
  await wallet.checkAccessibility();
  await typeWords(wallet, phrase);
  await wallet.sees('The wallet is backed up.');
  assert.equal(await wallet.button(/^Recovery phrase/).count(), 0);
  await wallet.goTo('Settings');
  assert.equal(await readPhrase(wallet), phrase);
  await wallet.closeClean();
});

interface PasskeyWallet {
  readonly wallet: WalletWindow;
  readonly session: CDPSession;
}

/** Opens the wallet in a new browser with passkeys, which need a host name. */
async function openWithPasskeys(): Promise<PasskeyWallet> {
  const { sandbox, browser } = stage();
  const wallet = walletOf(await browser.open(PHONE));
  const session = await addVirtualPasskeys(wallet);
  await wallet.page.goto(`${sandbox.web_url.replace('127.0.0.1', 'localhost')}/wallet`);
  return { wallet, session };
}

async function endSessions({ page }: WalletWindow): Promise<void> {
  await page.evaluate(() => localStorage.setItem('tapline.wallet.sessions', '{}'));
  await page.reload();
}

test('two browsers share a phrase; one removes its passkey, the other still opens', async () => {
  const { wallet: one, session } = await openWithPasskeys();
  await one.button(/^Create wallet/).click();
  await one.button(/^Use a passkey/).click();
  await one.page.getByLabel('Balance').waitFor();
  const address = await addressIn(one.page);
  await one.goTo('Settings');
  const phrase = await readPhrase(one);
  await one.page.keyboard.press('Escape');

  const { wallet: other } = await openWithPasskeys();
  await other.button(/^Import wallet/).click();
  const use = other.button(/^Use a passkey/);
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['', /^Enter the twelve words/],
    [phrase.replace(/\S+/, 'tapline'), /^“tapline” \(word 1\)/],
    [phrase.replace(/\s\S+$/, ''), /^A recovery phrase has twelve words\. These are 11 words\./],
    ['zoo '.repeat(12), /^These words don’t belong together/],
  ];
  for (const [text, problem] of wrong) {
    await other.field('Recovery phrase').fill(text);
    await use.click();
    await other.dialog().getByText(problem).waitFor();
  }
  await other.field('Private key').fill(`0x${'11'.repeat(32)}`);
  await use.click();
  await other.sees(/^Fill in one of the two only/);
  await other.checkAccessibility();
  await other.field('Private key').fill('');
  await other.field('Recovery phrase').fill(phrase.toUpperCase());
  await use.click();
  await other.page.getByLabel('Balance').waitFor();
  assert.equal(await addressIn(other.page), address);

  const removed = new Promise((resolve) => session.on('WebAuthn.credentialDeleted', resolve));
  await one.button(/^Add a password/).click();
  await one.inDialog(/^Add a password/).click();
  await one.field('Wallet password').fill(WALLET_PASSWORD);
  await one.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await one.inDialog(/^Add a password/).click();
  await one.sees('Either of the two now opens the wallet.');
  for (const by of ['passkey', 'password']) {
    await endSessions(one);
    if (by === 'password') {
      await one.button(/^Use your password instead/).click();
      await one.field('Wallet password').fill(WALLET_PASSWORD);
    }
    await one.button(/^Sign in/).click();
    await one.page.getByRole('navigation').waitFor();
  }
  await one.button(/^Remove passkey/).click();
  await one.field('Wallet password').fill(WALLET_PASSWORD);
  await one.inDialog(/^Remove passkey/).click();
  await one.sees('Removed. The other one opens the wallet.');
  await removed;
  await endSessions(one);
  await one.field('Wallet password').fill(WALLET_PASSWORD);
  await one.button(/^Sign in/).click();
  await one.page.getByRole('navigation').waitFor();
  await endSessions(other);
  await other.button(/^Sign in/).click();
  await other.page.getByLabel('Balance').waitFor();
  await one.close();
  await other.close();
});
