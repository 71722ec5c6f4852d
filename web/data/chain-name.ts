import { t } from '../ui/text/t.ts';

const CHAINS: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  5042: 'Arc',
  8453: 'Base',
  42161: 'Arbitrum One',
  84532: 'Base Sepolia',
};

export function chainName(chainId: number): string {
  return CHAINS[chainId] ?? t('pay.chain', { id: String(chainId) });
}
