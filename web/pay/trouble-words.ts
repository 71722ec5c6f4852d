import { formatUsdc } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import type { Trouble } from './connect-wallet.ts';

const CHAINS: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  8453: 'Base',
  42161: 'Arbitrum One',
};

function chainName(chainId: number): string {
  return CHAINS[chainId] ?? t('pay.chain', { id: String(chainId) });
}

export function troubleWords(
  trouble: Trouble,
  { price, chainId }: { readonly chainId: number; readonly price: bigint },
): string {
  if (trouble.is === 'too_little') {
    const [balance, needed] = [formatUsdc(trouble.balance), formatUsdc(price)];
    return t('pay.trouble.too_little', { balance, price: needed });
  }
  const names = { here: chainName(trouble.chainId), there: chainName(chainId) };
  return t(trouble.known ? 'pay.trouble.switch_chain' : 'pay.trouble.add_chain', names);
}
