import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

/**
 * Offers to switch the mode, because an empty page is most often due to an id of the other mode.
 */
export function OtherMode(): ReactNode {
  const { mode, setMode } = useMerchant();
  const other = mode === 'test' ? 'live' : 'test';
  return (
    <span className="stack">
      <span>{t('dashboard.other_mode.text', { mode })}</span>
      <Button onClick={() => setMode(other)}>{t('dashboard.other_mode.button', { other })}</Button>
    </span>
  );
}
