import type { ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { SkipLink } from '../../ui/skip-link.tsx';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { goTo, usePlace } from '../page-path.ts';
import { isBetweenSales } from '../till-machine.ts';
import { pagesOf } from '../till-pages.ts';
import { KeyEnded, NewVersion, SalesWait, WhoIsIn } from './lazy-parts.ts';
import { OfflineNotice } from './offline-notice.tsx';
import type { TillContext } from './till-context.ts';

function Links(context: TillContext): ReactNode {
  const { settings, change } = context;
  const pages = pagesOf(context);
  const [named] = usePlace().split('/');
  const page = named === '' ? pages[0] : named;
  return (
    <nav className="till-nav unprinted" aria-label={t('till.bar.name')}>
      {pages.map((place) => (
        <a
          key={place}
          data-name={`${place[0]?.toUpperCase()}${place.slice(1)}`}
          href={`terminal/${place}`}
          aria-current={page === place ? 'page' : undefined}
          onClick={(event) => {
            event.preventDefault();
            goTo(place);
          }}
        >
          {t(`till.bar.${place}`)}
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
      {view.keyEnded ? <KeyEnded onPairAgain={onPairAgain} /> : null}
      {hasNewVersion && isIdle ? <NewVersion /> : null}
    </header>
  );
}
