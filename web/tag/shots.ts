import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { LONG_NAME, type Scene, type Shot } from '../testing/shots.ts';
import { addTestTerminal, type TestTerminal } from '../testing/till.ts';

const PULLED = 2_511_250n;

function tagShot(
  name: string,
  lead: (at: { readonly terminal: TestTerminal; readonly ask: () => Promise<unknown> }) => unknown,
  word: string | RegExp,
): Shot {
  return {
    name,
    show: async ({ sandbox, browser }: Scene) => {
      const terminal = await addTestTerminal(sandbox, LONG_NAME);
      await lead({ terminal, ask: () => askForPayment(sandbox, terminal) });
      const window = await browser.open();
      await injectWallet(window, sandbox, await fundedAccount(sandbox, PULLED));
      await window.page.goto(terminal.tagUrl);
      if (name === 'paid') await window.page.getByRole('button', { name: /^Pay / }).click();
      await window.page.getByText(word).first().waitFor();
      return window;
    },
  };
}

export const SHOTS: readonly Shot[] = [
  tagShot('waiting', () => {}, 'The till has not asked for a payment yet.'),
  tagShot('asked', ({ ask }) => ask(), /^Pay /),
  tagShot('paid', ({ ask }) => ask(), 'Receipt'),
];
