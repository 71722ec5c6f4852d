import assert from 'node:assert/strict';
import { payAt } from '../../../web/testing/desk.ts';
import { paymentsOf, postAsMerchant } from '../../../web/testing/till.ts';
import { type Hands, until } from './hands.ts';
import { type Ground, type Journeys, signIn, ZONE } from './journey.ts';

/** Journeys of the dashboard and the operator console. */

/** Pages with a table whose rows each open a page. */
const LISTS = ['Overview', 'Payments', 'Refunds', 'Intents', 'Request log'];

/** Marks a cell without controls in the second row. @returns the target of its row. */
const MARK_CELL = `(() => {
  const link = document.querySelectorAll('main .row-link')[1];
  const cells = [...(link?.closest('tr').cells ?? [])];
  const plain = cells.filter((cell) => cell.querySelector('a, button') === null).at(-1);
  plain?.setAttribute('data-plain', '');
  return plain === undefined ? null : link.href;
})()`;

/** Rows and navigation links that another element covers. */
const COVERED = `[
  ...document.querySelectorAll('nav a'),
  ...[...document.querySelectorAll('main tr:has(.row-link)')].slice(0, 8),
].filter((one) => {
  one.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = one.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return width > 0 && !one.contains(top);
}).map((one) => one.textContent)`;

/** The saved schedule of statements, as the page shows it. */
const SCHEDULE = `(() => {
  const valueOf = (name) => [...document.querySelectorAll('label')]
    .find((label) => label.textContent.startsWith(name))?.control?.value;
  return valueOf('Scheduled statements') + ' ' + valueOf('Send the link to');
})()`;

async function opens(hands: Hands, address: string): Promise<void> {
  await until(address, async () =>
    (await hands.evaluate<string>('location.href')) === address ? address : null,
  );
}

/** Checks that at this width each row and each navigation link opens its own page. */
async function openLists(hands: Hands, ground: Ground, width: number): Promise<void> {
  const { sandbox, terminal } = ground;
  for (const amount of [1_000_000, 2_000_000]) {
    const { payment } = await payAt(sandbox, { terminal: terminal.id, amount });
    await postAsMerchant(sandbox, '/refunds', { payment, amount: 500_000 });
  }
  await hands.resize(width);
  await signIn(hands, ground, 'dashboard');
  for (const list of LISTS) {
    await hands.click('link', new RegExp(`^${list}$`));
    await until(`the heading ${list}`, async () =>
      (await hands.evaluate(`document.querySelector('h1')?.textContent === '${list}'`)) === true
        ? true
        : null,
    );
    const expected = await until(`two rows of ${list}`, () =>
      hands.evaluate<string | null>(MARK_CELL),
    );
    assert.deepEqual(await hands.evaluate(COVERED), [], list);
    await hands.clickAt('[data-plain]');
    await opens(hands, expected);
  }
}

/** Each displayed time with the same moment in the account's zone. */
const TIMES = `[...document.querySelectorAll('main time')].map((time) => {
  const shape = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' };
  const [language] = Intl.DateTimeFormat.supportedLocalesOf(
    /^[a-z]{2}(-|$)/.test(navigator.language) ? navigator.language : 'en');
  const inZone = new Intl.DateTimeFormat(language, { ...shape, timeZone: '${ZONE}' });
  return [time.textContent, inZone.format(new Date(time.dateTime))];
})`;

const passkeyButtons = (hands: Hands) =>
  hands.evaluate<number>(
    `[...document.querySelectorAll('button')].filter((one) =>
      one.textContent.startsWith('Use a passkey')).length`,
  );

/** Sets the dates as a script does, without events. */
const setDates = (value: string) => `(() => {
  for (const field of document.querySelectorAll('input[type=date]')) field.value = '${value}';
  return document.querySelectorAll('input[type=date]').length;
})()`;

export const DESK_JOURNEYS: Journeys = {
  'at 820 px each row and each link of the lists opens its own page': (hands, ground) =>
    openLists(hands, ground, 820),
  'at 1,440 px each row and each link of the lists opens its own page': (hands, ground) =>
    openLists(hands, ground, 1_440),
  'passkeys are offered where the browser has them, and nowhere else': async (hands, ground) => {
    const { web_url } = ground.sandbox;
    const named = web_url.replace('127.0.0.1', 'localhost');
    await hands.goto(`${web_url}/dashboard`);
    await hands.sees(/Sign in/);
    const has = await hands.evaluate<boolean>('typeof PublicKeyCredential !== "undefined"');
    if (has) await hands.sees(/Open http:\/\/localhost:\d+/);
    assert.equal(await passkeyButtons(hands), 0);
    const links = await hands.evaluate<number>(
      `document.querySelectorAll('a[href^="http://localhost"]').length`,
    );
    assert.equal(links, has ? 1 : 0);
    if (has) await hands.click('link', /^Open http:\/\/localhost/);
    else await hands.goto(`${named}/dashboard`);
    await opens(hands, `${named}/dashboard`);
    await hands.sees(/Sign in/);
    assert.equal(await passkeyButtons(hands), has ? 1 : 0);
  },
  'a period is chosen for a statement, and a schedule is saved': async (hands, ground) => {
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Balance$/);
    await hands.sees(/Statements/);
    await hands.choose('Period', 'A range of days');
    await hands.sees(/From/);
    await hands.choose('Scheduled statements', 'Every week');
    await hands.fill('Send the link to', 'books@accountant.example');
    await hands.click('button', /^Save schedule/);
    await hands.sees(/Saved/);
    await hands.goto(`${ground.sandbox.web_url}/dashboard/balance`);
    await until('the saved schedule', async () =>
      (await hands.evaluate(SCHEDULE)) === 'week books@accountant.example' ? true : null,
    );
  },
  'an empty date does not look like one that is set': async (hands, ground) => {
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Payments/);
    await hands.sees(/From/);
    const today = new Date().toISOString().slice(0, 10);
    const look = async (value: string) => {
      assert.equal(await hands.evaluate(setDates(value)), 2);
      return hands.picture();
    };
    const empty = await look('');
    // If the page renders between the two steps, it restores the form's own, empty date.
    await until('a date that looks set', async () => ((await look(today)) === empty ? null : true));
  },
  'times are in the zone of the account, which is named': async (hands, ground) => {
    const { sandbox, terminal } = ground;
    await payAt(sandbox, { terminal: terminal.id, amount: 1_000_000 });
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Payments/);
    await hands.sees(new RegExp(`Times are in ${ZONE}`));
    const times = await until('times', async () => {
      const shown = await hands.evaluate<[string, string][]>(TIMES);
      return shown.length === 0 ? null : shown;
    });
    for (const [shown, inZone] of times) assert.equal(shown, inZone);
  },
  'a rounded sum that is typed back refunds all of it': async (hands, ground) => {
    const { sandbox, terminal } = ground;
    const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 2_005_001 });
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Payments/);
    await hands.click('link', new RegExp(payment));
    await hands.click('button', /^Refund/);
    await hands.fill('Amount', '1,500');
    await hands.sees(/Write 1500 or 1\.50/);
    await hands.fill('Amount', '2.01');
    await hands.click('button', /^Refund 2\.005001 USDC/);
    await until('the refund', async () => {
      const all = await paymentsOf(sandbox, terminal);
      const refunded = all.find(({ id }) => id === payment)?.amount_refunded;
      return refunded === 2_005_001 ? true : null;
    });
  },
  'a sale that settles meanwhile is in the list on the way back': async (hands, ground) => {
    const { sandbox, terminal } = ground;
    const sale = () => payAt(sandbox, { terminal: terminal.id, amount: 7_250_000 });
    const first = await sale();
    await signIn(hands, ground, 'dashboard');
    await hands.click('link', /^Payments/);
    await hands.click('link', new RegExp(first.payment));
    // The amount that left the wallet: 0.50 % of fees added, 0.05 % of cashback subtracted.
    await hands.sees(/7\.28/);
    await hands.sees(/Events and webhooks/);
    const later = await sale();
    await hands.evaluate('history.back()');
    await until('the later sale', () =>
      hands.evaluate<true | null>(
        `document.querySelector('a[href$="${later.payment}"]') === null ? null : true`,
      ),
    );
  },
  'an operator signs in as far as the second factor': async (hands, ground) => {
    await signIn(hands, ground, 'operator');
    await hands.sees(/second factor/i);
  },
};
