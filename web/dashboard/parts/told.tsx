import type { ReactNode } from 'react';
import type { WebhookDelivery } from '../../data/types/dashboard.ts';
import { Notice } from '../../ui/notice.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** What the receiver made of one delivery, in words. */
export function answerWords({ response_status, error }: WebhookDelivery): string {
  if (response_status !== null) return `HTTP ${response_status}`;
  return error ?? 'Not sent yet';
}

/** What came back from the receiver. */
export function Told({ delivery }: { readonly delivery: WebhookDelivery }): ReactNode {
  const { status, response_body: body } = delivery;
  const tone = { pending: 'info', succeeded: 'good', failed: 'bad' } as const;
  return (
    <Notice tone={tone[status]} role="status">
      <strong>{answerWords(delivery)}</strong>
      <FactList>
        <Fact name="Attempt">{String(delivery.attempt)}</Fact>
        <Fact name="Duration">
          {delivery.duration_ms === null ? null : `${delivery.duration_ms} ms`}
        </Fact>
        <Fact name="Error">{delivery.error}</Fact>
        <Fact name="Next attempt">
          {delivery.next_attempt_at && <Time at={delivery.next_attempt_at} />}
        </Fact>
      </FactList>
      {body === null || body === '' ? null : (
        <>
          <p className="small">Your server’s response:</p>
          <pre className="code">{body}</pre>
        </>
      )}
    </Notice>
  );
}
