import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import type { DashboardRefund } from '../../data/types/dashboard.ts';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { RateFacts } from '../payments/rate-facts.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

/** Polling interval. A pending refund settles within seconds. */
const WATCH_MS = 3_000;

export function RefundPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/refunds/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title={t('dashboard.refund.page')}>
      <Loaded query={query} missing={<OtherMode />}>
        {(refund) => <RefundView refund={refund} />}
      </Loaded>
    </Page>
  );
}

function RefundView({ refund }: { readonly refund: DashboardRefund }): ReactNode {
  const metadata = Object.entries(refund.metadata);
  return (
    <>
      <Headline of={refund}>
        <Sum atoms={BigInt(refund.amount)} price={priceOf(refund.presentment)} />
      </Headline>
      {refund.waiting === null ? null : <Waiting refund={refund} />}
      {refund.status === 'failed' ? (
        <Notice tone="bad">
          <strong>{t('dashboard.refund.nothing_was_refunded')}</strong>
          <p>{given(refund.failure_message)}</p>
        </Notice>
      ) : null}
      <section className="card">
        <FactList>
          <Fact name={t('dashboard.field.payment')}>
            <ObjectLink id={refund.payment} />
          </Fact>
          <RateFacts quoted={refund.presentment} />
          <Fact name={t('dashboard.refund.requested_by.name')}>
            {t(`dashboard.refund_source.${refund.source}`)}
          </Fact>
          <Fact name={t('dashboard.field.reason')}>{given(refund.reason)}</Fact>
          <Fact name={t('dashboard.field.transaction')}>
            {refund.tx_hash && <span className="id">{refund.tx_hash}</span>}
          </Fact>
          <Fact name={t('dashboard.refund.failure.name')}>{given(refund.failure_code)}</Fact>
          <Fact name={t('dashboard.field.requested')}>
            <Time at={refund.created} />
          </Fact>
          <Fact name={t('dashboard.field.last_change')}>
            <Time at={refund.updated} />
          </Fact>
          {metadata.map(([name, value]) => (
            <Fact key={name} name={given(name)}>
              {given(value)}
            </Fact>
          ))}
        </FactList>
      </section>
    </>
  );
}

/**
 * Shows why a refund is waiting (not enough USDC, or the hourly ceiling) and that it is retried
 * automatically.
 */
function Waiting({ refund }: { readonly refund: DashboardRefund }): ReactNode {
  const { call, may } = useMerchant();
  const { waiting } = refund;
  if (waiting === null) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('dashboard.refund.waiting')}</strong>
      <p>
        {rich(
          'dashboard.refund.waiting.text',
          { time: () => <Time at={waiting.since} /> },
          { message: waiting.message },
        )}
      </p>
      {may('admin') ? (
        <div>
          <ConfirmButton
            title={t('dashboard.refund.give_up_this_refund.heading')}
            send={t('dashboard.button.give_up')}
            request={() =>
              call('POST /accounts/{account}/{mode}/refunds/{id}/end', { path: { id: refund.id } })
            }
          >
            <p>{t('dashboard.refund.give_up.text')}</p>
          </ConfirmButton>
        </div>
      ) : null}
    </Notice>
  );
}
