import { chainName } from '../data/chain-name.ts';
import { formatUsdc } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import type { Trouble } from './connect-wallet.ts';

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
