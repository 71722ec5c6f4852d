import type { TestWindow } from '../testing/browser.ts';

/** What a browser is told of the test network, instead of what is there. */
export type Change = 'short' | 'other chain' | 'no contract' | 'silent';

/** Held, owed, fees. */
const SHORT = [1_999_999n, 2_000_000n, 10_000n];

function answerTo(change: Change, method: string, data: string): string | null {
  if (method === 'eth_chainId') return change === 'other chain' ? '0x1' : null;
  if (method !== 'eth_call') return null;
  if (change === 'no contract') return '0x';
  const isHoldings = data.length > 10;
  if (change !== 'short' || !isHoldings) return null;
  return `0x${SHORT.map((atoms) => atoms.toString(16).padStart(64, '0')).join('')}`;
}

/** Lets this window see holdings as they would be then. */
export async function alterHoldings({ page }: TestWindow, change: Change): Promise<void> {
  await page.route('**/chain/testnet', async (route) => {
    if (change === 'silent') return route.abort('connectionreset');
    const { id, method, params } = route.request().postDataJSON();
    const result = answerTo(change, method, params[0]?.data ?? '');
    if (result === null) return route.continue();
    await route.fulfill({ json: { jsonrpc: '2.0', id, result } });
  });
}
