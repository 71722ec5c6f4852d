import type { ReactNode } from 'react';
import { addressWithPasskeys } from '../data/passkey.ts';
import { t } from '../ui/text/t.ts';

/** Links to this page at `localhost`, because browsers have no passkeys at 127.0.0.1. */
export function PasskeyAddress(): ReactNode {
  const address = addressWithPasskeys();
  if (address === null) return null;
  return (
    <p className="soft small">
      {t('desk.passkey_address.text')}{' '}
      <a href={`${address}${location.pathname}`} translate="no">
        {t('desk.passkey_address.open.link', { address })}
      </a>
    </p>
  );
}
