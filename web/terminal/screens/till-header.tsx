import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SkipLink } from '../../ui/skip-link.tsx';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { goTo, usePlace } from '../page-path.ts';
import { isBetweenSales } from '../till-machine.ts';
import { WORDS } from '../till-words.ts';
import { SalesWait, WhoIsIn } from './lazy-parts.ts';
import { OfflineNotice } from './offline-notice.tsx';
import type { TillContext } from './till-context.ts';

const PAGES = [
  { name: 'till.bar.till', place: '' },
  { name: 'till.bar.history', place: 'history' },
  { name: 'till.bar.totals', place: 'totals' },
  { name: 'till.bar.settings', place: 'settings' },
] as const;

function Links({ settings, change }: TillContext): ReactNode {
  const [page] = usePlace().split('/');
  return (
    <nav className="till-nav unprinted" aria-label={t('till.bar.name')}>
      {PAGES.map(({ name, place }) => (
        <a
          key={name}
          href={place === '' ? 'terminal' : `terminal/${place}`}
          aria-current={page === place ? 'page' : undefined}
          onClick={(event) => {
            event.preventDefault();
            goTo(place);
          }}
        >
          {t(name)}
        </a>
      ))}
      {settings.pin === null ? null : (
        <button type="button" onClick={() => change({ locked: true })}>
          <Icon name="lock" /> {t('till.bar.lock')}
        </button>
      )}
    </nav>
  );
}

export interface BarProps extends TillContext {
  readonly hasNewVersion: boolean;
  readonly onPairAgain: () => void;
}

export function Bar(props: BarProps): ReactNode {
  const { device, view, settings, hasNewVersion, onPairAgain } = props;
  const { phase } = view.till;
  const { sales, hasStorage, outlook } = props.offline.view;
  const isIdle = isBetweenSales(phase);
  return (
    <header className="till-bar">
      <SkipLink />
      <div className="till-who unprinted">
        {device?.brand_path == null ? null : <link rel="stylesheet" href={device.brand_path} />}
        <div className="till-brand branded">
          <p className="till-merchant">
            <bdi>{device?.merchant_name ?? 'Tapline'}</bdi>
          </p>
        </div>
        <p className="soft small">
          <bdi>{device?.label ?? ''}</bdi>
        </p>
        {device?.livemode === false ? <Status tone="warn">{t('till.test_mode')}</Status> : null}
      </div>
      {isIdle && settings.shiftSince !== null ? <Links {...props} /> : null}
      {isIdle && settings.person !== null ? <WhoIsIn {...props} /> : null}
      <OfflineNotice {...props} />
      {outlook === null && sales.length === 0 && hasStorage ? null : <SalesWait {...props} />}
      {view.keyEnded ? (
        <Notice tone="bad" role="alert">
          <strong>{t(WORDS.keyEnded)}</strong>
          <p>{t(WORDS.keyEndedHint)}</p>
          <Button data-name="Pair" onClick={onPairAgain}>
            {t('till.bar.pair_again')}
          </Button>
        </Notice>
      ) : null}
      {hasNewVersion && isIdle ? (
        <Notice tone="info">
          <p>{t('till.bar.new_version')}</p>
          <Button onClick={() => location.reload()}>{t('till.bar.new_version_button')}</Button>
        </Notice>
      ) : null}
    </header>
  );
}
