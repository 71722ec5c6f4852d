import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Payment, PaymentIntent } from '../../data/types/dashboard.ts';
import { Timeline } from '../../desk/timeline.tsx';
import { courseOf, deliverySteps, type Step } from '../../desk/timeline-steps.ts';
import { CodeWords } from '../../ui/code-words.tsx';
import { t } from '../../ui/text/t.ts';
import { useRead } from '../use-merchant.ts';
import { pathOf } from './object-link.tsx';

/** Polling interval, short enough to follow a tap until it settles. */
const WATCH_MS = 2_000;

export interface PaymentTimelineProps {
  readonly intent: PaymentIntent | undefined;
  readonly payment?: Payment | undefined;
}

function isOver(intent: PaymentIntent | undefined): boolean {
  return intent?.status === 'succeeded' || intent?.status === 'canceled';
}

export function PaymentTimeline({ intent, payment }: PaymentTimelineProps): ReactNode {
  const id = intent?.id ?? '';
  const { data: timeline } = useRead(
    'GET /accounts/{account}/{mode}/payment_intents/{id}/timeline',
    { path: { id } },
    { enabled: id !== '', ...(isOver(intent) ? {} : { everyMs: WATCH_MS }) },
  );
  const deliveries = timeline === undefined ? [] : deliverySteps(timeline);
  return (
    <div className="stack">
      <Steps
        title={t('dashboard.course.what_happened.heading')}
        steps={courseOf({ intent, payment, timeline })}
      />
      {deliveries.length === 0 ? null : (
        <Steps title={t('dashboard.course.events_and_webhooks.heading')} steps={deliveries} />
      )}
    </div>
  );
}

interface StepsProps {
  readonly title: string;
  readonly steps: readonly Step[];
}

function Steps({ title, steps }: StepsProps): ReactNode {
  return (
    <section className="card stack">
      <h2>{title}</h2>
      <Timeline
        moments={steps.map((step) => ({
          key: step.key,
          at: step.at,
          tone: step.tone,
          title: <StepTitle step={step} />,
          detail: step.detail,
          codes: step.codes,
        }))}
      />
    </section>
  );
}

function StepTitle({ step }: { readonly step: Step }): ReactNode {
  const path = step.link === undefined ? null : pathOf(step.link);
  if (path === null) return <StepWords step={step} />;
  return (
    <Link href={path}>
      <StepWords step={step} />
    </Link>
  );
}

function StepWords({ step: { title, event } }: { readonly step: Step }): ReactNode {
  return (
    <span>
      {title}
      {event === undefined ? null : <CodeWords code={event} />}
    </span>
  );
}
