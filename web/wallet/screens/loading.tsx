import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { t } from '../../ui/text/t.ts';
import { problemOf } from '../problem-words.ts';
import { useHere } from '../wallet-context.tsx';
import type { Pages } from '../wallet-reads.ts';

export function Waiting(): ReactNode {
  return <Skeleton />;
}

/** Keeps the line of the balance's value free. */
export function BalancePlace(): ReactNode {
  return <p className="balance-value" />;
}

export function Problem({ of }: { readonly of: unknown }): ReactNode {
  const { refresh } = useHere();
  return (
    <Notice tone="bad" role="alert">
      <p>{problemOf(of)}</p>
      <Button onClick={refresh}>{t('wallet.try_again')}</Button>
    </Notice>
  );
}

export function More<T>({ pages }: { readonly pages: Pages<T> }): ReactNode {
  if (!pages.hasNextPage) return null;
  return (
    <Button wide busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      {t('wallet.show_more')}
    </Button>
  );
}
