import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';

/** The service no longer accepts this till's key. */
export function KeyEnded({ onPairAgain }: { readonly onPairAgain: () => void }): ReactNode {
  return (
    <Notice tone="bad" role="alert">
      <strong>{t('till.key_ended')}</strong>
      <p>{t('till.key_ended_hint')}</p>
      <Button data-name="Pair" onClick={onPairAgain}>
        {t('till.bar.pair_again')}
      </Button>
    </Notice>
  );
}

export function NewVersion(): ReactNode {
  return (
    <Notice tone="info">
      <p>{t('till.bar.new_version')}</p>
      <Button onClick={() => location.reload()}>{t('till.bar.new_version_button')}</Button>
    </Notice>
  );
}
