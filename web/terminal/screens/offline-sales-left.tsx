import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { waitingCount } from '../offline/held-sales.ts';
import { goTo } from '../page-path.ts';
import { SaveSales } from './offline-sales.tsx';
import type { TillContext } from './till-context.ts';

function ViewButton(): ReactNode {
  return <Button onClick={() => goTo('history')}>{t('till.offline_sale.view_button')}</Button>;
}

/** True while a dialog shows the warning, so that it does not appear twice. */
let isWarning = false;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function warn(is: boolean): void {
  isWarning = is;
  for (const listener of listeners) listener();
}

/** Warns before the shift ends that sales are still waiting. */
export function SalesLeft({ offline }: TillContext): ReactNode {
  const waits = waitingCount(offline.view.sales);
  useEffect(() => {
    warn(true);
    return () => warn(false);
  }, []);
  if (waits === 0) return null;
  return (
    <Notice tone="warn" role="alert">
      <strong>{t('till.offline_sale.waits', { count: waits })}</strong>
      <p>{t('till.offline_sale.end_shift')}</p>
    </Notice>
  );
}

/** Shows that the browser's storage does not answer. The till keeps trying. */
function StorageNotice(): ReactNode {
  return (
    <Notice tone="warn" role="alert">
      <p>{t('till.no_storage')}</p>
    </Notice>
  );
}

export function SalesWait({ offline, settings, view }: TillContext): ReactNode {
  const { sales, refusal, hasStorage, outlook } = offline.view;
  const isRepeated = useSyncExternalStore(subscribe, () => isWarning);
  const waits = waitingCount(sales);
  const bounced = sales.filter(({ state }) => state.is === 'bounced' && !state.isSeen).length;
  // This till may be unable to forward some sales, for example because they belong to another shop.
  const hasUnread = sales.some(({ state }) => state.is === 'unread');
  const { at } = view.till.phase;
  const canLeave = settings.shiftSince !== null && (at === 'keypad' || at === 'accepted');
  return (
    <div className="stack unprinted">
      {hasStorage ? null : <StorageNotice />}
      {view.reached && at === 'keypad' && outlook !== null ? (
        <p className="soft small">{t('till.offline_sale.without', { words: outlook })}</p>
      ) : null}
      {waits === 0 || isRepeated ? null : (
        <Notice tone={refusal === null ? 'info' : 'bad'} icon="wait" role="status">
          <strong>{t('till.offline_sale.waits', { count: waits })}</strong>
          {refusal === null ? (
            // The result screen of a sale already shows this.
            at === 'accepted' ? null : (
              <>
                <p>{t('till.offline_sale.waits_text')}</p>
                {hasUnread ? <SaveSales sales={sales} /> : null}
              </>
            )
          ) : (
            <>
              <p>{t('till.offline_sale.refused_by_service', { message: refusal })}</p>
              <SaveSales sales={sales} />
            </>
          )}
        </Notice>
      )}
      {bounced === 0 ? null : (
        <Notice tone="bad" role="alert">
          <strong>{t('till.offline_sale.bounced', { count: bounced })}</strong>
          <p>{t('till.offline_sale.bounced_text')}</p>
          {canLeave ? <ViewButton /> : null}
        </Notice>
      )}
    </div>
  );
}
