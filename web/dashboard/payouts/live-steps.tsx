import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../../ui/text/t.ts';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';
import { Step } from './step.tsx';

/**
 * Shows the verification step: a link to the form, or, while the operator reviews the submission,
 * that there is nothing to do.
 */
export function VerifiedStep({ status }: { readonly status: string }): ReactNode {
  return (
    <Step name={t('dashboard.verification.verified')} isDone={status === 'approved'}>
      {status === 'pending' ? (
        t('dashboard.live_steps.verified.waits')
      ) : (
        <Link href="/dashboard/verification">{t('dashboard.live_steps.verified.link')}</Link>
      )}
    </Step>
  );
}

/** Shows the steps from a test account to its first real sale. Disappears after that sale. */
export function LiveSteps(): ReactNode {
  const { may } = useMerchant();
  const one = { query: { limit: 1 } };
  const account = useAccount().data;
  const goLive = useRead('GET /accounts/{account}/{mode}/go_live').data;
  const terminals = useRead('GET /accounts/{account}/{mode}/terminals', one).data;
  const payments = useRead('GET /accounts/{account}/{mode}/payments', one).data;
  if (account === undefined || goLive === undefined) return null;
  if (terminals === undefined || payments === undefined || payments.data.length > 0) return null;
  return (
    <section className="card stack">
      <h2>{t('dashboard.live_steps.heading')}</h2>
      <ol className="stack stack-tight">
        <VerifiedStep status={account.kyb_status} />
        <Step name={t('dashboard.go_live.registered')} isDone={goLive.live}>
          <Link href="/dashboard/balance">{t('dashboard.button.go_live')}</Link>
        </Step>
        <Step name={t('dashboard.live_steps.till')} isDone={terminals.data.length > 0}>
          <Link href="/dashboard/terminals">{t('dashboard.live_steps.till.link')}</Link>
        </Step>
        {may('admin') ? <ServerSteps /> : null}
      </ol>
    </section>
  );
}

function ServerSteps(): ReactNode {
  const keys = useRead('GET /accounts/{account}/{mode}/api_keys').data?.data ?? [];
  const endpoints = useRead('GET /accounts/{account}/{mode}/webhook_endpoints').data?.data ?? [];
  return (
    <>
      <Step name={t('dashboard.live_steps.key')} isDone={keys.length > 0}>
        <Link href="/dashboard/api-keys">{t('dashboard.live_steps.key.link')}</Link>
      </Step>
      <Step name={t('dashboard.live_steps.webhook')} isDone={endpoints.length > 0}>
        <Link href="/dashboard/webhooks">{t('dashboard.live_steps.webhook.link')}</Link>
      </Step>
    </>
  );
}
