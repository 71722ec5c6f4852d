import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import type { Tag } from '../data/types/pay.ts';
import { Paying } from '../pay/pay.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Status } from '../ui/status.tsx';
import { t } from '../ui/text/t.ts';
import { awaitPayment, sentAt, showTag, tagApi } from './tag-api.ts';

/** Longest poll, shorter than the idle time-outs of common proxies. */
const WAIT_SECONDS = 20;
/** Delay between polls without a network, or after a response that came too early. */
const PAUSE_MS = 1_500;

type Seen =
  | { readonly is: 'loading' | 'missing' }
  | { readonly is: 'waiting'; readonly tag: Tag | null; readonly away: boolean }
  | { readonly is: 'payment'; readonly reference: string };

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until the till requests a payment. */
async function watch(token: string, signal: AbortSignal, show: (seen: Seen) => void) {
  await showTag(token);
  let tag: Tag | null = null;
  // The first poll returns immediately, so that the page has something to show.
  let wait = 0;
  while (!signal.aborted) {
    const startedMs = performance.now();
    const answer = await awaitPayment(token, { wait, signal });
    if (signal.aborted) return;
    if (answer.is === 'refused' && answer.status === 404) return show({ is: 'missing' });
    if (answer.is === 'done') {
      tag = answer.value;
      if (tag.payment !== null) return show({ is: 'payment', reference: tag.payment.reference });
    }
    show({ is: 'waiting', tag, away: answer.is !== 'done' });
    const isEarly = wait > 0 && performance.now() - startedMs < PAUSE_MS;
    if (isEarly || answer.is !== 'done') await sleep(PAUSE_MS);
    else wait = WAIT_SECONDS;
  }
}

function useTag(token: string) {
  const sent = sentAt(token);
  const [seen, setSeen] = useState<Seen>(
    sent === null ? { is: 'loading' } : { is: 'payment', reference: sent },
  );
  const isOpen = seen.is === 'payment' || seen.is === 'missing';
  useEffect(() => {
    if (isOpen) return;
    const ending = new AbortController();
    void watch(token, ending.signal, setSeen);
    return () => ending.abort();
  }, [token, isOpen]);
  const wait = useCallback(() => setSeen({ is: 'waiting', tag: null, away: false }), []);
  return { seen, wait };
}

function Waiting({ seen }: { readonly seen: Extract<Seen, { is: 'waiting' }> }): ReactNode {
  const { tag, away } = seen;
  return (
    <>
      <title>{t('tag.page')}</title>
      <section className="pay-who" role="status">
        {tag?.network === 'testnet' ? <Status tone="warn">{t('pay.test_mode')}</Status> : null}
        <h1 className={tag === null ? undefined : 'branded'}>
          {tag === null ? t('tag.heading') : <bdi>{tag.merchant.name}</bdi>}
        </h1>
        <span className="spinner" aria-hidden="true" />
        <p>{t('tag.waiting')}</p>
        <p className="soft">{t('tag.waiting_hint')}</p>
      </section>
      {away ? (
        <Notice tone="bad" role="alert">
          {t('pay.unreachable.text')}
        </Notice>
      ) : null}
    </>
  );
}

function OnePayment(props: {
  readonly token: string;
  readonly reference: string;
  readonly onOthers: () => void;
}): ReactNode {
  const { token, reference, onOthers } = props;
  const api = useMemo(() => tagApi(token, reference), [token, reference]);
  return <Paying api={api} onOthers={onOthers} />;
}

/** The page behind the sticker on the counter, which shows the till's current payment. */
export function TagPage({ token }: { readonly token: string }): ReactNode {
  const { seen, wait } = useTag(token);
  return (
    <main className="sheet pay">
      {seen.is === 'missing' ? (
        <EmptyState title={t('pay.missing.heading')}>{t('tag.missing')}</EmptyState>
      ) : seen.is === 'payment' ? (
        <OnePayment key={seen.reference} token={token} reference={seen.reference} onOthers={wait} />
      ) : seen.is === 'waiting' ? (
        <Waiting seen={seen} />
      ) : (
        <Skeleton />
      )}
    </main>
  );
}
