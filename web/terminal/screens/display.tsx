import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { sumWords } from '../../ui/paid-total.ts';
import { Qr } from '../../ui/qr.tsx';
import { Total } from '../../ui/sale-total.tsx';
import { TipChoice } from '../../ui/tip-choice.tsx';
import {
  type DisplayMessage,
  type DisplayState,
  type Due,
  openChannel,
  type Shown,
} from '../customer-display.ts';
import { customerDecline, OUTCOME_LOOKS } from '../result-words.ts';
import { WORDS } from '../till-words.ts';
import './payment.css';
import './display.css';
import { t } from '../../ui/text/t.ts';
import { TillIcon } from './till-icon.tsx';

function useDisplayState(): DisplayState | null {
  const [state, setState] = useState<DisplayState | null>(null);
  useEffect(() => {
    const channel = openChannel();
    if (channel === null) return;
    channel.onmessage = ({ data }: MessageEvent<DisplayMessage>) => {
      if (data.type === 'state') setState(data.state);
      if (data.type === 'bye') setState(null);
    };
    channel.postMessage({ type: 'hello' } satisfies DisplayMessage);
    return () => channel.close();
  }, []);
  return state;
}

function Waiting({ words }: { readonly words: string }): ReactNode {
  return (
    <section className="display-idle">
      <TillIcon name="tap" />
      <p>{words}</p>
    </section>
  );
}

function Pay(shown: Extract<Shown, { at: 'pay' }>): ReactNode {
  const { tip, url, isDeclined, decline } = shown;
  return (
    <section className="display-pay">
      {isDeclined ? (
        <div className="outcome outcome-small is-full-bad" role="alert">
          <h2>{t(WORDS.outcome.declined)}</h2>
          <p>{customerDecline({ last_payment_error: decline })}</p>
        </div>
      ) : null}
      <div className="due">
        <Total {...shown} />
        {tip > 0n ? <p className="soft">{t('till.display.with_tip')}</p> : null}
      </div>
      <div className="tap-here">
        <TillIcon name="tap" />
        <p>{t('till.display.hold')}</p>
      </div>
      {url === null ? null : (
        <figure className="pay-qr">
          <Qr value={url} label={t('till.waiting.pay_code')} />
          <figcaption className="soft">{t('till.waiting.pay_code_text')}</figcaption>
        </figure>
      )}
    </section>
  );
}

function AskingPart({ text, ...due }: Extract<Shown, { at: 'asking' }>): ReactNode {
  return (
    <section className="display-pay">
      <div className="due">
        <Total {...due} />
      </div>
      <figure className="pay-qr">
        <Qr value={text} label={t('till.offline_sale.code', { sum: sumWords(due.total) })} />
        <figcaption className="soft">{t('till.offline_sale.display_text')}</figcaption>
      </figure>
    </section>
  );
}

const ACCEPTED = {
  waits: ['offline', 'wait', 'till.offline_sale.accepted'],
  paid: ['good', 'good', 'till.outcome.paid'],
  bounced: ['bad', 'bad', 'till.outcome.declined'],
} as const;

/** Shows the customer the state of an offline sale; never why it bounced. */
function AcceptedPart({ is, ...due }: Extract<Shown, { at: 'accepted' }>): ReactNode {
  const [look, icon, title] = ACCEPTED[is];
  return (
    <section className={`outcome is-full-${look}`} role="status">
      <Icon name={icon} />
      <h2>{t(title)}</h2>
      <Total {...due} />
    </section>
  );
}

interface FullProps {
  readonly look: 'good' | 'bad' | 'warn' | 'plain' | 'info';
  readonly title: string;
  readonly due: Due;
  readonly words?: string;
}

function Full({ look, title, due, words = '' }: FullProps): ReactNode {
  return (
    <section className={`outcome is-full-${look}`} role="status">
      <Icon name={look === 'plain' ? 'info' : look === 'info' ? 'wait' : look} />
      <h2>{title}</h2>
      <Total {...due} />
      {words === '' ? null : <p>{words}</p>}
    </section>
  );
}

interface TipProps {
  readonly merchant: string;
  readonly shown: Extract<Shown, { at: 'tip' }>;
}

/** Lets the customer choose a tip. The till asks as well; an answer on either screen is enough. */
function Tip({ merchant, shown }: TipProps): ReactNode {
  const { intent, atoms, quoted, percentages } = shown;
  const tell = (tip: bigint) => {
    const channel = openChannel();
    channel?.postMessage({ type: 'tip', intent, tip } satisfies DisplayMessage);
    channel?.close();
  };
  return (
    <section className="display-tip">
      <TipChoice
        merchant={merchant}
        amount={atoms}
        quoted={quoted}
        percentages={percentages}
        onTip={tell}
      />
    </section>
  );
}

function Face({ merchant, shown }: DisplayState): ReactNode {
  switch (shown.at) {
    case 'idle':
      return <Waiting words={t('till.display.welcome')} />;
    case 'tip':
      return <Tip merchant={merchant} shown={shown} />;
    case 'pay':
      return <Pay {...shown} />;
    case 'asking':
      return <AskingPart {...shown} />;
    case 'accepted':
      return <AcceptedPart {...shown} />;
    case 'checking':
      return <Full look="info" title={t(WORDS.checking)} due={shown} />;
    case 'confirming': {
      return <Full look="info" title={t('till.display_confirm')} due={shown} />;
    }
    case 'result': {
      const { outcome, decline } = shown;
      const look = OUTCOME_LOOKS[outcome];
      const words = outcome === 'declined' ? customerDecline({ last_payment_error: decline }) : '';
      return <Full look={look} title={t(WORDS.outcome[outcome])} due={shown} words={words} />;
    }
  }
}

/** The window that faces the customer. Its only controls choose a tip. */
export function DisplayScreen(): ReactNode {
  const state = useDisplayState();
  return (
    <main className="display">
      <title>{t('till.display.page')}</title>
      <h1 className={state === null ? 'unseen' : undefined}>
        <bdi>{state?.merchant || t('till.display.heading')}</bdi>
      </h1>
      {state === null ? <Waiting words={t('till.display_alone')} /> : <Face {...state} />}
    </main>
  );
}
