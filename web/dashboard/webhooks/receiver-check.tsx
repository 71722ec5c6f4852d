import { type ReactNode, useState } from 'react';
import type { CheckReceiverResponse, WebhookDelivery } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import type { Tone } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { useMerchant } from '../use-merchant.ts';
import { answerWords, DeliveryAnswer } from './delivery-answer.tsx';

const GUIDE = 'docs/webhooks';

const TONES = {
  checks_signatures: 'good',
  takes_old: 'warn',
  takes_forged: 'bad',
  not_reached: 'bad',
} as const satisfies Readonly<Record<CheckReceiverResponse['verdict'], Tone>>;

/** Sends one valid event and two invalid ones, and shows how the receiver responds. */
export function ReceiverCheck({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [delivery, setDelivery] = useState<WebhookDelivery | null>(null);
  const [checked, setChecked] = useState<CheckReceiverResponse | null>(null);
  const path = { id };
  return (
    <div className="stack">
      <div className="row">
        <ActionButton
          kind="primary"
          request={() =>
            call('POST /accounts/{account}/{mode}/webhook_endpoints/{id}/check_receiver', { path })
          }
          onDone={(result) => {
            setDelivery(null);
            setChecked(result);
          }}
        >
          {t('dashboard.receiver_check.check_signatures.button')}
        </ActionButton>
        <ActionButton
          request={() =>
            call('POST /accounts/{account}/{mode}/webhook_endpoints/{id}/test', { path })
          }
          onDone={(delivery) => {
            setChecked(null);
            setDelivery(delivery);
          }}
        >
          {t('dashboard.receiver_check.send_test_event.button')}
        </ActionButton>
      </div>
      {delivery === null ? null : <DeliveryAnswer delivery={delivery} />}
      {checked === null ? null : <Checked check={checked} />}
    </div>
  );
}

function Checked({ check }: { readonly check: CheckReceiverResponse }): ReactNode {
  const { verdict, delivery, forged, old } = check;
  return (
    <>
      <Notice tone={TONES[verdict]} role="status">
        <strong>{t(`dashboard.receiver_heading.${verdict}`)}</strong>
        <p>{t(`dashboard.receiver_text.${verdict}`)}</p>
        <ul className="small">
          <li>
            {rich('dashboard.receiver_check.valid', { answer: () => <>{answerWords(delivery)}</> })}
          </li>
          {forged === null ? null : (
            <li>
              {rich('dashboard.receiver_check.by_other', {
                answer: () => <>{probeWords(forged)}</>,
              })}
            </li>
          )}
          {old === null ? null : (
            <li>
              {rich('dashboard.receiver_check.too_old', { answer: () => <>{probeWords(old)}</> })}
            </li>
          )}
        </ul>
        {verdict === 'checks_signatures' ? null : (
          <p>
            <a href={GUIDE} target="_blank" rel="noreferrer">
              {t('dashboard.receiver_check.guide')}
            </a>
          </p>
        )}
      </Notice>
      {verdict === 'not_reached' ? <DeliveryAnswer delivery={delivery} /> : null}
    </>
  );
}

type Probe = NonNullable<CheckReceiverResponse['forged']>;

function probeWords({ response_status: status, error, taken }: Probe): string {
  const isTaken = taken ? 'yes' : 'no';
  if (status !== null) return t('dashboard.receiver_check.answered', { status, isTaken });
  if (error === null) return t('dashboard.receiver_check.silent', { isTaken });
  return t('dashboard.receiver_check.failed', { error, isTaken });
}
