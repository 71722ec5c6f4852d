import { DESKTOP } from '../testing/browser.ts';
import type { Shot } from '../testing/shots.ts';

export const SHOTS: readonly Shot[] = [
  {
    name: 'without-wallet',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open(DESKTOP);
      const facts = new URLSearchParams({ chain: '31337', settlement: `0x${'11'.repeat(20)}` });
      await window.page.goto(`${sandbox.web_url}/contract#${facts}`);
      await window.page.getByRole('button', { name: 'Connect wallet' }).click();
      await window.page.getByText('This browser has no wallet').waitFor();
      return window;
    },
  },
];
