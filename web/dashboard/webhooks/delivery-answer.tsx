import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { Notice } from '../../ui/notice.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';

export function answerWords({ response_status, error }: WebhookDelivery): string {
  if (response_status !== null)
    return t('dashboard.delivery_answer.http', { status: response_status });
  return error === null ? t('dashboard.delivery_answer.not_sent_yet') : named(error);
}

export function DeliveryAnswer({ delivery }: { readonly delivery: WebhookDelivery }): ReactNode {
  const { status, response_body: body } = delivery;
  const tone = { pending: 'info', succeeded: 'good', failed: 'bad' } as const;
  return (
    <Notice tone={tone[status]} role="status">
      <strong>{answerWords(delivery)}</strong>
      <FactList>
        <Fact name={t('dashboard.delivery_answer.attempt.name')}>{String(delivery.attempt)}</Fact>
        <Fact name={t('dashboard.field.duration')}>
          {delivery.duration_ms === null
            ? null
            : t('ui.milliseconds', { number: formatNumber(delivery.duration_ms) })}
        </Fact>
        <Fact name={t('dashboard.field.error')}>{given(delivery.error)}</Fact>
        <Fact name={t('dashboard.delivery_answer.next_attempt.name')}>
          {delivery.next_attempt_at && <Time at={delivery.next_attempt_at} />}
        </Fact>
      </FactList>
      {body === null || body === '' ? null : (
        <>
          <p className="small">{t('dashboard.delivery_answer.response')}</p>
          <pre className="code">{body}</pre>
        </>
      )}
    </Notice>
  );
}
