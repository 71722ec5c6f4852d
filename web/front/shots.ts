import type { Shot } from '../testing/shots.ts';

export const SHOTS: readonly Shot[] = [
  {
    name: 'front',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(sandbox.web_url);
      await window.page.getByText(/^testnet is settling/).waitFor();
      return window;
    },
  },
];
