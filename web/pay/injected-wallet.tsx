import { type ReactNode, useEffect, useState } from 'react';
import type { Provider } from '../data/injected-wallets.ts';
import { Button } from '../ui/button.tsx';
import { formatPrice } from '../ui/format-price.ts';
import { formatUsdc } from '../ui/format-usdc.ts';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import { type Connected, connect, lookAt, type Needs, signWith } from './connect-wallet.ts';
import { linkTotal, type PayLink, totalOf } from './pay-link.ts';
import type { Step } from './pay-machine.ts';
import { troubleWords } from './trouble-words.ts';
import type { Payment } from './use-payment.ts';

export interface WayProps {
  readonly step: Extract<Step, { at: 'open' }>;
  readonly payment: Payment;
}

export function payWords(link: PayLink): string {
  const { atoms, price } = linkTotal(link).total;
  const sum = price === null ? formatUsdc(atoms) : formatPrice(price);
  return t('pay.button', { sum, merchant: link.merchant.name });
}

function useLook(provider: Provider, { chainId, usdc, price }: Needs) {
  const [seen, setSeen] = useState<Connected | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const look = () => {
      lookAt(provider, { chainId, usdc, price }).then(
        (provider) => isCurrent && setSeen(provider),
        // Ignores an error here; the wallet is queried again when the user pays.
        () => {},
      );
    };
    look();
    provider.on?.('accountsChanged', look);
    provider.on?.('chainChanged', look);
    return () => {
      isCurrent = false;
      provider.removeListener?.('accountsChanged', look);
      provider.removeListener?.('chainChanged', look);
    };
  }, [provider, chainId, usdc, price]);
  return [seen, setSeen] as const;
}

/** Shows a wrong network or a low balance before anything is signed. */
export function InjectedWallet(props: WayProps & { readonly provider: Provider }): ReactNode {
  const { provider, step, payment } = props;
  const { link, busy } = step;
  const needs: Needs = { chainId: link.chain_id, usdc: link.usdc, price: totalOf(link) };
  const [seen, setSeen] = useLook(provider, needs);
  const trouble = seen?.trouble ?? null;
  const start = () =>
    payment.pay(async () => {
      const connected = await connect(provider, needs);
      setSeen(connected);
      if (connected.trouble !== null) return null;
      const { address } = connected;
      return { address, sign: (message) => signWith(provider, address, message) };
    });
  return (
    <>
      {trouble === null || busy ? null : (
        <Notice tone="warn" role="alert">
          {troubleWords(trouble, needs)}
        </Notice>
      )}
      {busy ? (
        <Notice tone="info" role="status">
          {t('pay.in_wallet')}
        </Notice>
      ) : null}
      <Button data-name="Pay" kind="primary" large wide busy={busy} onClick={start}>
        {payWords(link)}
      </Button>
    </>
  );
}
