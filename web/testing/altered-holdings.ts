import type { TestWindow } from './browser.ts';

/** Ways in which a test falsifies the test network's data in the browser. */
export type Change = 'short' | 'other chain' | 'no contract' | 'silent';

/** Assets held, amount owed to merchants, and fees. */
const SHORT = [1_999_999n, 2_000_000n, 10_000n];

function answerTo(change: Change, method: string, data: string): string | null {
  if (method === 'eth_chainId') return change === 'other chain' ? '0x1' : null;
  if (method !== 'eth_call') return null;
  if (change === 'no contract') return '0x';
  const isHoldings = data.length > 10;
  if (change !== 'short' || !isHoldings) return null;
  return `0x${SHORT.map((atoms) => atoms.toString(16).padStart(64, '0')).join('')}`;
}

/** Intercepts the chain's responses in this window so that they show the changed holdings. */
export async function alterHoldings({ page }: TestWindow, change: Change): Promise<void> {
  await page.route('**/chain/testnet', async (route) => {
    if (change === 'silent') return route.abort('connectionreset');
    const { id, method, params } = route.request().postDataJSON();
    const result = answerTo(change, method, params[0]?.data ?? '');
    if (result === null) return route.continue();
    await route.fulfill({ json: { jsonrpc: '2.0', id, result } });
  });
}
