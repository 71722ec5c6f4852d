import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { firstPartOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { ObjectLink } from '../payments/object-link.tsx';
import { Step } from '../payouts/step.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

/** The one-click test till, which only a sandbox offers. */
const OpenTestTill = firstPartOf(
  async () => (await import('../terminals/open-test-till.tsx')).OpenTestTill,
);
const Pairing = firstPartOf(async () => (await import('../terminals/pairing.tsx')).Pairing);
const GoLiveInTest = firstPartOf(
  async () => (await import('../payouts/go-live-in-test.tsx')).GoLiveInTest,
);

/** Polling interval, short enough to notice steps done on a phone or in another window. */
const WATCH_MS = 5_000;

/**
 * Leads from an empty account to a test payment without code. Confirms the first payment, and
 * disappears with the second.
 */
export function FirstSteps(): ReactNode {
  const { may } = useMerchant();
  const one = { query: { limit: 1 } };
  const two = { query: { limit: 2 } };
  const watched = { everyMs: WATCH_MS };
  const terminals = useRead('GET /accounts/{account}/{mode}/terminals', one, watched).data?.data;
  const payments = useRead('GET /accounts/{account}/{mode}/payments', two, watched).data?.data;
  const goLive = useRead('GET /accounts/{account}/{mode}/go_live', undefined, watched).data;
  if (terminals === undefined || payments === undefined || goLive === undefined) return null;
  if (payments.length > 1) return null;
  const [till] = terminals;
  const [payment] = payments;
  const isPaid = payment !== undefined;
  return (
    <section className="card stack">
      <h2>{t('dashboard.first_steps.heading')}</h2>
      {till?.last_seen_at == null && !isPaid && may('admin') ? <OpenTestTill /> : null}
      <ol className="stack stack-tight">
        <Step name={t('dashboard.first_steps.settle')} isDone={goLive.live}>
          {may('admin') ? (
            <GoLiveInTest />
          ) : (
            <Link href="/dashboard/balance">{t('dashboard.first_steps.settle.link')}</Link>
          )}
        </Step>
        <Step name={t('dashboard.first_steps.till')} isDone={till !== undefined}>
          <Link href="/dashboard/terminals">{t('dashboard.first_steps.till.link')}</Link>
        </Step>
        <Step
          name={t('dashboard.first_steps.device')}
          isDone={isPaid || (till?.last_seen_at ?? null) !== null}
        >
          {till === undefined ? (
            t('dashboard.first_steps.device.wait')
          ) : (
            <Pairing terminal={till.id} brief />
          )}
        </Step>
        <Step name={t('dashboard.first_steps.sale')} isDone={isPaid}>
          <Sale till={till?.id} />
        </Step>
        <Step name={t('dashboard.first_steps.payment')} isDone={isPaid}>
          <Link href="/dashboard/payments">{t('dashboard.first_steps.payment.link')}</Link>
        </Step>
      </ol>
      {payment === undefined ? null : (
        <Notice tone="good" role="status">
          <strong>{t('dashboard.first_steps.done.heading')}</strong>
          <p>
            {rich('dashboard.first_steps.done.text', {
              payment: () => <ObjectLink id={payment.id} />,
            })}
          </p>
        </Notice>
      )}
    </section>
  );
}

/** Lets the test customer pay, at the till or on this page. */
function Sale({ till }: { readonly till: string | undefined }): ReactNode {
  if (till === undefined) return <>{t('dashboard.first_steps.sale.text')}</>;
  const link = (text: string) => <Link href={`/dashboard/terminals/${till}`}>{text}</Link>;
  return <>{rich('dashboard.first_steps.sale.or_here', { link })}</>;
}
