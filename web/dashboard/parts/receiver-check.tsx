import { type ReactNode, useState } from 'react';
import type { CheckReceiverResponse, WebhookDelivery } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useMerchant } from '../merchant.ts';
import { answerWords, Told } from './told.tsx';

const GUIDE = 'docs/webhooks';

interface Verdict {
  readonly tone: 'good' | 'bad' | 'warn';
  readonly title: string;
  readonly words: string;
}

const VERDICTS: Readonly<Record<CheckReceiverResponse['verdict'], Verdict>> = {
  checks_signatures: {
    tone: 'good',
    title: 'Your server checks signatures',
    words: 'It accepted the valid event, and rejected a forged one and one that was too old.',
  },
  takes_old: {
    tone: 'warn',
    title: 'Your server accepts old events',
    words:
      'It rejected a forged event, but accepted one that was signed ten minutes ago. Anyone who ' +
      'has recorded a request can send it again: reject events older than five minutes.',
  },
  takes_forged: {
    tone: 'bad',
    title: 'Your server accepts forged events',
    words:
      'It answered 2xx to an event that someone else signed. Anyone who knows the address could ' +
      'tell it that a sale was paid. Check the signature before you do anything else.',
  },
  not_reached: {
    tone: 'bad',
    title: 'Your server did not accept the valid event',
    words:
      'It should answer 2xx to an event with a valid signature. Does it have this signing secret?',
  },
};

/** Sends one good event and two bad ones, and says what the receiver made of them. */
export function ReceiverCheck({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [told, setTold] = useState<WebhookDelivery | null>(null);
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
          onDone={(found) => {
            setTold(null);
            setChecked(found);
          }}
        >
          Check signatures
        </ActionButton>
        <ActionButton
          request={() =>
            call('POST /accounts/{account}/{mode}/webhook_endpoints/{id}/test', { path })
          }
          onDone={(delivery) => {
            setChecked(null);
            setTold(delivery);
          }}
        >
          Send test event
        </ActionButton>
      </div>
      {told === null ? null : <Told delivery={told} />}
      {checked === null ? null : <Checked check={checked} />}
    </div>
  );
}

function Checked({ check }: { readonly check: CheckReceiverResponse }): ReactNode {
  const { verdict, delivery, forged, old } = check;
  const { tone, title, words } = VERDICTS[verdict];
  return (
    <>
      <Notice tone={tone} role="status">
        <strong>{title}</strong>
        <p>{words}</p>
        <ul className="small">
          <li>Valid signature: {answerWords(delivery)}</li>
          {forged === null ? null : <li>Signed by someone else: {probeWords(forged)}</li>}
          {old === null ? null : <li>Signed ten minutes ago: {probeWords(old)}</li>}
        </ul>
        {verdict === 'checks_signatures' ? null : (
          <p>
            <a href={GUIDE} target="_blank" rel="noreferrer">
              How to check a signature, in four languages
            </a>
          </p>
        )}
      </Notice>
      {verdict === 'not_reached' ? <Told delivery={delivery} /> : null}
    </>
  );
}

type Probe = NonNullable<CheckReceiverResponse['forged']>;

function probeWords({ response_status: status, error, taken }: Probe): string {
  const answer = status === null ? (error ?? 'no answer') : `answered ${status}`;
  return taken ? `${answer}, so it was accepted` : `${answer}, so it was rejected`;
}
