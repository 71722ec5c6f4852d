import { test } from 'node:test';
import { type TextKey, writerFor } from '#i18n/text.ts';
import { NARROW } from '../testing/browser.ts';
import { checkPseudoLanguage } from '../testing/pseudo-language.ts';
import { sharedStage } from '../testing/stage.ts';
import { TESTED_LANGUAGE } from '../testing/tested-language.ts';
import { addTestTerminal } from '../testing/till.ts';
import { tapPass, WALLET_PASSWORD, type WalletWindow, walletOf } from '../testing/wallet.ts';

/** Tests the wallet screens in the pseudo-language, on a narrow phone. */

const stage = sharedStage();

const { text, locale } = writerFor(TESTED_LANGUAGE);
const HUNDRED = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(100);

/**
 * Returns controls by their guaranteed English name if they have one, and otherwise by their text.
 */
function controlsOf(wallet: WalletWindow) {
  const { page } = wallet;
  const named = (name: string) => page.locator(`[data-name="${name}"]`).last();
  return {
    named,
    result: (name: string) => page.locator(`[data-result="${name}"]`),
    click: (key: TextKey) =>
      page
        .getByRole('button', { name: text(key), exact: true })
        .last()
        .click(),
    follow: (key: TextKey) => page.getByRole('link', { name: text(key), exact: true }).click(),
    fill: (key: TextKey, value: string) => page.getByLabel(text(key)).first().fill(value),
    check: async () => {
      // Does not wait for `networkidle`, which never fires, because a wallet always has a long poll
      // open.
      await page.waitForFunction(
        () => document.querySelector('.skeleton, [aria-busy=true]') === null,
      );
      await checkPseudoLanguage(wallet);
    },
    leave: () => page.keyboard.press('Escape'),
  };
}

/** Opens a funded wallet with an approval that uses the pseudo-language. */
async function openPseudoWallet() {
  const { sandbox, browser } = stage();
  const wallet = walletOf(await browser.open(NARROW));
  const url = sandbox.web_url;
  await wallet.context.addCookies([{ name: 'tapline_language', value: TESTED_LANGUAGE, url }]);
  await wallet.page.goto(`${url}/wallet`);
  return { wallet, ...controlsOf(wallet) };
}

async function createWallet({ named, wallet }: Awaited<ReturnType<typeof openPseudoWallet>>) {
  await named('Create wallet').click();
  await named('Wallet password').fill(WALLET_PASSWORD);
  await named('Repeat wallet password').fill(WALLET_PASSWORD);
  await named('Create wallet').click();
  await wallet.page.getByLabel(text('wallet.home.balance')).waitFor();
}

test('creating and funding a wallet, and approving a payment, are translated and fit', async () => {
  const { sandbox } = stage();
  const pseudo = await openPseudoWallet();
  const { wallet, named, result, click, follow, fill, check } = pseudo;
  await named('Import wallet').waitFor();
  await check();
  await named('Create wallet').click();
  await check();
  await wallet.page.reload();
  await createWallet(pseudo);
  await check();
  await click('wallet.faucet.button');
  await wallet.page.getByText(HUNDRED).first().waitFor();
  await click('wallet.allow.button');
  await check();
  await click('wallet.allow.button');
  await wallet.page.getByText(text('wallet.home.status.ready')).waitFor();
  await check();
  await follow('wallet.pages.passes');
  await check();
  await click('wallet.passes.add.button');
  await fill('wallet.passes.name', 'Ключи');
  await check();
  await click('wallet.passes.add.button');
  const pass = await wallet.page
    .getByLabel(text('wallet.passes.added.code'), { exact: true })
    .inputValue();
  await check();
  await click('wallet.done');
  await check();
  await follow('wallet.pages.limits');
  await check();
  await wallet.page.getByRole('switch', { name: text('wallet.limits.own.first_payment') }).click();
  const terminal = await addTestTerminal(sandbox);
  await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  await named('Approve').waitFor();
  await check();
  await named('Approve').click();
  await result('Paid').waitFor();
  await check();
  await click('wallet.done');
  await follow('wallet.pages.history');
  await check();
  wallet.checkClean();
  await wallet.close();
});

test('settings, approvals and contracts are translated and fit', async () => {
  const pseudo = await openPseudoWallet();
  const { wallet, named, click, follow, fill, check, leave } = pseudo;
  await createWallet(pseudo);
  await click('wallet.faucet.button');
  await wallet.page.getByText(HUNDRED).first().waitFor();
  await click('wallet.receive.open_button');
  await check();
  await leave();
  await click('wallet.send.open_button');
  await fill('wallet.send.recipient', '0x90F79bf6EB2c4f870365E785982E1f101E93b906');
  await named('Amount').fill('1.50');
  await check();
  await click('wallet.send.review_button');
  await wallet.page.getByText(text('wallet.send.compare')).waitFor();
  await check();
  await leave();
  await follow('wallet.pages.settings');
  await check();
  await named('Recovery phrase').click();
  await named('Wallet password').fill(WALLET_PASSWORD);
  await check();
  await named('Recovery phrase').click();
  await click('wallet.phrase.written_button');
  await check();
  await leave();
  await click('wallet.remove.button');
  await check();
  await leave();
  await follow('wallet.pages.limits');
  await follow('wallet.limits.contracts_link');
  await check();
  await follow('wallet.end.link');
  await wallet.page.getByText(text('wallet.end.sign_heading'), { exact: true }).first().waitFor();
  await check();
  await wallet.page.goto(`${stage().sandbox.web_url}/wallet/pay-offline`);
  await named('Request').fill(`TLREQ1${'A'.repeat(200)}`);
  await wallet.page.getByText(text('wallet.pay_offline.problem.damaged')).waitFor();
  await check();
  wallet.checkClean();
  await wallet.close();
});

test('cards and agent tokens are translated and fit', async () => {
  const pseudo = await openPseudoWallet();
  const { wallet, named, click, follow, fill, check } = pseudo;
  await createWallet(pseudo);
  await follow('wallet.pages.passes');
  await follow('wallet.passes.cards_link');
  await check();
  await click('wallet.cards.add.button');
  await fill('wallet.cards.name', 'Карта');
  await fill('wallet.per_payment', '20');
  await check();
  await click('wallet.cards.add.button');
  await wallet.page.getByLabel(text('wallet.cards.write.meta_key'), { exact: true }).waitFor();
  await check();
  await click('wallet.done');
  await check();
  await follow('wallet.pages.passes');
  await follow('wallet.passes.agents_link');
  await check();
  await click('wallet.agents.create.button');
  await fill('wallet.agents.shop', stage().sandbox.account);
  await named('Amount').fill('3.50');
  await check();
  await click('wallet.agents.create.button');
  await wallet.page.getByLabel(text('wallet.agents.created.token'), { exact: true }).waitFor();
  await check();
  await click('wallet.done');
  await check();
  wallet.checkClean();
  await wallet.close();
});

test('a wallet that is opened again asks for its password', async () => {
  const pseudo = await openPseudoWallet();
  const { wallet, named, check } = pseudo;
  await createWallet(pseudo);
  await wallet.page.evaluate("localStorage.setItem('tapline.wallet.sessions', '{}')");
  await wallet.page.reload();
  await named('Wallet password').fill('not this one, no');
  await named('Sign in').click();
  await wallet.page.getByText(text('wallet.problem.password_wrong')).waitFor();
  await check();
  wallet.checkClean();
  await wallet.close();
});
