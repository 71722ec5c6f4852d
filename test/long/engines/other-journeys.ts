import assert from 'node:assert/strict';
import { payAt } from '../../../web/testing/desk.ts';
import { paymentsOf } from '../../../web/testing/till.ts';
import { WALLET_PASSWORD } from '../../../web/testing/wallet.ts';
import { type Journeys, makeWallet } from './journey.ts';

/** Journeys of the wallet and the public pages. */

/** An address on the test chain without a balance. */
const FRIEND = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
/** A passphrase that sign-up accepts. */
const PASSWORD = 'a long shop passphrase';
/** The most clicks allowed from the front page to the first test payment. */
const MOST_CLICKS = 6;

export const OTHER_JOURNEYS: Journeys = {
  'the front page leads to the dashboard': async (hands, { sandbox }) => {
    await hands.goto(sandbox.web_url);
    await hands.sees(/Take payments with a tap/);
    await hands.click('link', /^Dashboard/);
    await hands.sees(/Password/);
  },
  'six clicks from the front page to a first test payment': async (hands, { sandbox }) => {
    let clicks = 0;
    const click = async (role: 'button' | 'link', name: RegExp) => {
      clicks++;
      await hands.click(role, name);
    };
    await hands.goto(sandbox.web_url);
    await click('link', /open an account/i);
    await hands.fill('Email', `${crypto.randomUUID()}@shop.test`);
    await click('button', /^Send me a link/);
    await hands.fill('Your name', 'Nina New');
    await hands.fill('Business name', 'New Café');
    await hands.fill('Password', PASSWORD);
    await click('button', /^Open account/);
    await click('button', /^Open a test till/);
    await hands.followNewWindow();
    await hands.fill('Amount', '2.50');
    await click('button', /^Charge/);
    // Adds one click, for choosing a pass.
    clicks++;
    await hands.choose('Test pass', 'ok');
    await hands.sees(/Paid/);
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
  },
  'a wallet is made and filled, and the page names one that was lost': async (hands, ground) => {
    await makeWallet(hands, ground);
    await hands.evaluate('localStorage.clear()');
    await hands.goto(`${ground.sandbox.web_url}/wallet`);
    await hands.sees(/held a wallet ending in [\da-f]{4}/);
  },
  'a wallet sends the sum that was typed': async (hands, ground) => {
    await makeWallet(hands, ground);
    await hands.click('button', /^Send$/);
    await hands.fill('Recipient', FRIEND);
    await hands.fill('Amount', '1,500');
    await hands.click('button', /^Review/);
    await hands.sees(/Write 1500 or 1\.50/);
    await hands.fill('Amount', '1,5');
    await hands.click('button', /^Review/);
    await hands.fill('Wallet password', WALLET_PASSWORD);
    await hands.click('button', /^Send 1\.50 USDC/);
    await hands.sees(/98\.50/);
  },
  'a receipt is checked with the chain': async (hands, { sandbox, terminal }) => {
    const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 4_000_000 });
    const paid = (await paymentsOf(sandbox, terminal)).find(({ id }) => id === payment);
    await hands.goto(String(paid?.receipt_url));
    await hands.sees(/Checked by your browser/);
  },
  'the documentation is searched': async (hands, { sandbox }) => {
    await hands.goto(`${sandbox.web_url}/docs`);
    await hands.fill('Search', 'refund');
    await hands.sees(/\d+ results/);
  },
  'what the contracts hold is added up': async (hands, { sandbox }) => {
    await hands.goto(`${sandbox.web_url}/solvency`);
    await hands.sees(/Added up by your browser/);
  },
};
