import type { ReactNode } from 'react';
import { WALLET_APPS } from '../data/wallet-apps.ts';
import { t } from '../ui/text/t.ts';

/** Links that open this payment in the browser of a wallet app. */
export function WalletAppLinks(): ReactNode {
  const page = new URL(location.href);
  return (
    <ul className="pay-apps" aria-label={t('pay.wallet_apps')}>
      {WALLET_APPS.map(({ name, linkTo }) => (
        <li key={name}>
          <a href={linkTo(page)} rel="noreferrer">
            <bdi>{name}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
