import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { setClock, WRONG_CLOCKS } from '../testing/clock.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';
import {
  addPass,
  allowPayments,
  askFirst,
  createWallet,
  fundWallet,
  tapPass,
  type WalletWindow,
  walletOf,
} from '../testing/wallet.ts';

const stage = sharedStage();

/** Returns the seconds shown in the open sheet's countdown. */
async function secondsLeft(wallet: WalletWindow): Promise<number> {
  const ring = wallet.dialog().getByRole('timer', { name: /seconds left$/ });
  return Number.parseInt((await ring.getAttribute('aria-label')) ?? '', 10);
}

for (const { name, offsetMs } of WRONG_CLOCKS) {
  test(`a wallet whose clock is ${name} allows, shows codes and answers in time`, async () => {
    const { sandbox } = stage();
    const terminal = await addTestTerminal(sandbox);
    const wallet = walletOf(await stage().browser.open(PHONE));
    await setClock(wallet.page, offsetMs);
    await wallet.page.goto(`${sandbox.web_url}/wallet`);
    await createWallet(wallet);
    await fundWallet(wallet);
    await allowPayments(wallet);
    const pass = await addPass(wallet, 'Keyring');

    await wallet.button(/^Show code/).click();
    await wallet.inDialog(/^New code/).click();
    await wallet.field('Code').waitFor();
    const codeLeft = await secondsLeft(wallet);
    assert.ok(codeLeft > 0 && codeLeft <= 61, `${codeLeft} s`);
    await wallet.button(/^Close/).click();

    await askFirst(wallet);
    const intent = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
    assert.equal(intent.status, 'requires_action');
    await wallet.button(/^Approve/).waitFor();
    const ringLeft = await secondsLeft(wallet);
    assert.ok(ringLeft > 0 && ringLeft <= 61, `${ringLeft} s`);
    await wallet.button(/^Approve/).click();
    await wallet.page
      .getByRole('status')
      .filter({ has: wallet.page.getByText('Paid', { exact: true }) })
      .waitFor();
    assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
    wallet.checkClean();
    await wallet.close();
  });
}
