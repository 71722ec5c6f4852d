import { alterHoldings, type Change } from '../testing/altered-holdings.ts';
import { DESKTOP } from '../testing/browser.ts';
import type { Shot } from '../testing/shots.ts';

function shot(name: string, change: Change | null = null): Shot {
  return {
    name,
    show: async ({ browser, sandbox }) => {
      const window = await browser.open(DESKTOP);
      if (change !== null) await alterHoldings(window, change);
      await window.page.goto(`${sandbox.web_url}/solvency`);
      const verdicts = window.page.getByRole('status').filter({ hasText: /^[✓✗]/ });
      await verdicts.nth(1).waitFor();
      return window;
    },
  };
}

export const SHOTS: readonly Shot[] = [shot('covered'), shot('short', 'short')];
