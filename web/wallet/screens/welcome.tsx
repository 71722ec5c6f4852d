import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { heldWallet } from '../last-wallet-cookie.ts';
import { wayBack } from '../return-to-payment.ts';
import type { Way } from './new-wallet.tsx';

const NewWallet = partOf(async () => (await import('./new-wallet.tsx')).NewWallet);

/** Explains that the browser has deleted the wallet's data. */
function HeldBefore({ end }: { readonly end: string | null }): ReactNode {
  if (end === null) return null;
  return (
    <Notice tone="warn">
      <strong>{t('wallet.welcome.held.heading', { end })}</strong>
      <p>{t('wallet.welcome.held.text')}</p>
    </Notice>
  );
}

/** Shows the first screen in a browser without a wallet. */
export function Welcome(): ReactNode {
  // Reads the path before the wallet's own screens change the URL.
  useState(wayBack);
  const [way, setWay] = useState<Way | null>(null);
  const [held] = useState(heldWallet);
  return (
    <main className="sheet stack welcome">
      <title>{t('wallet.page')}</title>
      <img className="welcome-logo" src="icons/tapline.svg" alt="" />
      <h1>{t('wallet.welcome.heading')}</h1>
      <p className="soft">{t('wallet.welcome.text')}</p>
      <HeldBefore end={held} />
      <Button data-name="Create wallet" kind="primary" large wide onClick={() => setWay('create')}>
        {t('wallet.create.button')}
      </Button>
      <Button data-name="Import wallet" large wide onClick={() => setWay('import')}>
        {t('wallet.import.button')}
      </Button>
      <p className="soft small">{t('wallet.welcome.no_account')}</p>
      <LanguageChoice />
      {way === null ? null : <NewWallet way={way} onClose={() => setWay(null)} />}
    </main>
  );
}
