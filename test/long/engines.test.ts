import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { payAt } from '../../web/testing/desk.ts';
import { askForPayment } from '../../web/testing/payer.ts';
import {
  addTestTerminal,
  paymentsOf,
  postAsMerchant,
  type TestTerminal,
} from '../../web/testing/till.ts';
import { TRANSLATE } from '../../web/testing/translation.ts';
import { WALLET_PASSWORD } from '../../web/testing/wallet.ts';
import { chromiumEngine, firefoxEngine } from './engines/by-playwright.ts';
import { webkitEngine } from './engines/by-webdriver.ts';
import { type Engine, type Hands, until } from './engines/hands.ts';

/** Journeys of each surface in three engines: people bring all of them. */

let shared: SharedSandbox;
let terminal: TestTerminal;
const engines = [chromiumEngine(), firefoxEngine(), webkitEngine()];

before(async () => {
  shared = await openSharedSandbox();
  terminal = await addTestTerminal(shared.sandbox);
});

after(async () => {
  for (const engine of engines) await engine.close();
  await shared.close();
});

const sell = (amount: number) => payAt(shared.sandbox, { terminal: terminal.id, amount });

async function openTill(hands: Hands): Promise<void> {
  const own = await addTestTerminal(shared.sandbox);
  await hands.goto(`${shared.sandbox.web_url}/terminal#key=${own.deviceKey}`);
  await hands.click('button', /^Start shift/);
  await hands.sees(/Charge/);
}

async function signIn(hands: Hands, app: 'dashboard' | 'operator'): Promise<void> {
  const { email, password } = shared.sandbox[app];
  await hands.goto(`${shared.sandbox.web_url}/${app}`);
  await hands.fill('Email', email);
  await hands.fill('Password', password);
  await hands.click('button', /^Sign in/);
}

/** Enough that every engine collects its garbage. */
const GARBAGE = `(() => {
  let kept = 0;
  for (let round = 0; round < 200; round++) kept += new Array(500_000).fill(round).length;
  return kept;
})()`;

type Journey = (hands: Hands) => Promise<void>;

const JOURNEYS: Readonly<Record<string, Journey>> = {
  'the front page leads to the dashboard': async (hands) => {
    await hands.goto(shared.sandbox.web_url);
    await hands.sees(/Tapline is running/);
    await hands.click('link', /^Dashboard/);
    await hands.sees(/Password/);
  },
  'a click on the second row opens the second payment': async (hands) => {
    await sell(1_000_000);
    await sell(2_000_000);
    await signIn(hands, 'dashboard');
    await hands.sees(/Test mode/);
    await hands.click('link', /^Payments/);
    const second = `document.querySelectorAll('.row-link')[1]?.href ?? null`;
    const wanted = await until('a second row', () => hands.evaluate<string | null>(second));
    await hands.clickAt('tbody tr:nth-child(2) td:nth-child(3)');
    await until(wanted, async () =>
      (await hands.evaluate<string>('location.href')) === wanted ? wanted : null,
    );
  },
  'a sale: Charge, a pass, Paid, and the next one': async (hands) => {
    await openTill(hands);
    for (const amount of ['2.50', '9.99']) {
      await hands.fill('Amount', amount);
      await hands.evaluate(GARBAGE);
      const before = Date.now();
      await hands.click('button', /^Charge/);
      await hands.sees(/Cancel payment/);
      const waited = Date.now() - before;
      assert.ok(waited < 6_000, `Charge took ${waited} ms: a request before it was not aborted`);
      await hands.choose('Test pass', 'ok');
      await hands.sees(/Paid/);
      await hands.click('button', /^New payment/);
    }
  },
  'on a translated page the button shows the sum that it charges': async (hands) => {
    await openTill(hands);
    await hands.evaluate(`(() => { ${TRANSLATE} })()`);
    await hands.fill('Amount', '2.22');
    await hands.sees(/Charge 2\.22/);
    await hands.fill('Amount', '9.99');
    await hands.sees(/Charge 9\.99/);
    await hands.click('button', /^Charge 9\.99/);
    await hands.choose('Test pass', 'ok');
    await hands.sees(/Paid/);
  },
  'a pay link says what is paid, and to whom': async (hands) => {
    const { url } = await askForPayment(shared.sandbox, terminal, { amount: 3_210_000 });
    await hands.goto(url);
    await hands.sees(/3\.21/);
    await hands.sees(/USDC/);
  },
  'a wallet is made, filled, and asks for a backup': async (hands) => {
    await hands.goto(`${shared.sandbox.web_url}/wallet`);
    await hands.click('button', /^Create wallet/);
    await hands.fill('Wallet password', WALLET_PASSWORD);
    await hands.fill('Repeat wallet password', WALLET_PASSWORD);
    await hands.click('button', /^Create wallet/);
    await hands.click('button', /^Get test USDC/);
    await hands.sees(/100\.00/);
    await hands.sees(/Back up wallet/);
    await hands.evaluate('localStorage.clear()');
    await hands.goto(`${shared.sandbox.web_url}/wallet`);
    await hands.sees(/held a wallet ending in [\da-f]{4}/);
  },
  'a receipt is checked with the chain': async (hands) => {
    const { payment } = await sell(4_000_000);
    const paid = (await paymentsOf(shared.sandbox, terminal)).find(({ id }) => id === payment);
    await hands.goto(String(paid?.receipt_url));
    await hands.sees(/Checked by your browser/);
  },
  'the documentation is searched': async (hands) => {
    await hands.goto(`${shared.sandbox.web_url}/docs`);
    await hands.fill('Search', 'refund');
    await hands.sees(/\d+ results/);
  },
  'an operator signs in as far as the second factor': async (hands) => {
    await signIn(hands, 'operator');
    await hands.sees(/second factor/i);
  },
  'what the contracts hold is added up': async (hands) => {
    await hands.goto(`${shared.sandbox.web_url}/solvency`);
    await hands.sees(/Added up by your browser/);
  },
  'a tag waits for the sum of its till': async (hands) => {
    const own = await addTestTerminal(shared.sandbox);
    await hands.goto(own.tagUrl);
    await postAsMerchant(shared.sandbox, '/payment_intents', {
      amount: 1_230_000,
      terminal: own.id,
    });
    await hands.sees(/1\.23/);
  },
  'a pass that is declined says so, and nothing is charged': async (hands) => {
    await openTill(hands);
    await hands.fill('Amount', '5');
    await hands.click('button', /^Charge/);
    await hands.choose('Test pass', 'insufficient_funds');
    await hands.sees(/Declined/);
  },
};

function runIn(engine: Engine): void {
  const options = engine.missing === null ? {} : { skip: engine.missing };
  describe(engine.name, options, () => {
    for (const [name, journey] of Object.entries(JOURNEYS)) {
      test(name, async () => {
        const hands = await engine.open();
        try {
          await journey(hands);
        } finally {
          await hands.close();
        }
      });
    }
  });
}

for (const engine of engines) runIn(engine);
