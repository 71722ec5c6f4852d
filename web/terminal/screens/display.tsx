import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { LargeMoney } from '../../ui/large-money.tsx';
import { Notice } from '../../ui/notice.tsx';
import { sumWords } from '../../ui/paid-total.ts';
import { Qr } from '../../ui/qr.tsx';
import { quantityText } from '../../ui/quantity-text.ts';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { Total } from '../../ui/sale-total.tsx';
import { TipChoice } from '../../ui/tip-choice.tsx';
import { Money } from '../../ui/typed-money.tsx';
import {
  type DisplayMessage,
  type DisplayState,
  type Due,
  openChannel,
  type Ringing,
  type Shown,
} from '../customer-display.ts';
import { OUTCOME_LOOKS } from '../result-words.ts';
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

function Waiting({
  words,
  children = <TillIcon name="tap" />,
}: {
  readonly words: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <section className="display-idle">
      {children}
      <p>{words}</p>
    </section>
  );
}

/** Counts the rows that fit into a list, so that no line is cut off. */
function useRows(count: number) {
  const list = useRef<HTMLUListElement>(null);
  const [rows, setRows] = useState(count);
  useLayoutEffect(() => {
    const { current } = list;
    if (current === null) return;
    const measure = () => {
      const height = current.firstElementChild?.getBoundingClientRect().height ?? 0;
      if (height > 0) setRows(Math.max(1, Math.floor(current.clientHeight / height)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [list, rows] as const;
}

/** The latest lines of the cart; the number of earlier ones if they have no room. */
function CartLines({ lines, currency }: Pick<Ringing, 'lines' | 'currency'>): ReactNode {
  const [list, rows] = useRows(lines.length);
  const fits = lines.length <= rows;
  const earlier = fits ? 0 : lines.length - rows + 1;
  return (
    <ul ref={list} className="display-lines">
      {fits ? null : (
        <li>
          <span className="soft">{`+ ${earlier}`}</span>
        </li>
      )}
      {lines.slice(earlier).map(({ at, name, quantity, price }) => (
        <li key={at}>
          <span className="soft">{`${quantityText(quantity)} ×`}</span>
          <bdi translate="no">{name}</bdi>
          <Money units={price} currency={currency} />
        </li>
      ))}
    </ul>
  );
}

function CartPart({ currency, lines, discount, tax, sum }: Ringing): ReactNode {
  const less = { name: t('till.cart.discount'), units: -discount };
  const parts = [less, { name: t('till.cart.tax'), units: tax }].filter(
    ({ units }) => units !== 0n,
  );
  return (
    <section className="display-cart" aria-label={t('till.cart.heading')}>
      {lines.length === 0 ? null : <CartLines lines={lines} currency={currency} />}
      <div className="display-sum">
        {parts.map(({ name, units }) => (
          <p key={name}>
            {name} <Money units={units} currency={currency} />
          </p>
        ))}
        <p>{t('till.display.sum')}</p>
        <LargeMoney units={sum} currency={currency} />
      </div>
    </section>
  );
}

function Pay(shown: Extract<Shown, { at: 'pay' }>): ReactNode {
  const { tip, url, isDeclined } = shown;
  return (
    <section className="display-pay">
      <div className="display-due">
        {isDeclined ? (
          <div
            className="outcome outcome-small is-full-bad"
            role="alert"
            data-result={RESULT_NAMES.declined}
          >
            <h2>{t(WORDS.outcome.declined)}</h2>
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
      <div className="display-due due">
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
      {is === 'paid' ? <p className="display-thanks">{t('till.display.thanks')}</p> : null}
    </section>
  );
}

interface FullProps {
  readonly look: 'good' | 'bad' | 'warn' | 'plain' | 'info';
  readonly title: string;
  readonly name: string;
  readonly due: Due;
  readonly children?: ReactNode;
}

function Full({ look, title, name, due, children }: FullProps): ReactNode {
  return (
    <section className={`outcome is-full-${look}`} role="status" data-result={name}>
      <Icon name={look === 'plain' ? 'info' : look === 'info' ? 'wait' : look} />
      <h2>{title}</h2>
      <Total {...due} />
      {children}
    </section>
  );
}

/** Shows a result. A decline has no reason here: the wallet of its payer says it. */
function ResultPart(shown: Extract<Shown, { at: 'result' }>): ReactNode {
  const { outcome, receipt } = shown;
  const title = t(WORDS.outcome[outcome]);
  return (
    <Full look={OUTCOME_LOOKS[outcome]} title={title} name={RESULT_NAMES[outcome]} due={shown}>
      {outcome === 'paid' ? <p className="display-thanks">{t('till.display.thanks')}</p> : null}
      {receipt === null ? null : (
        <figure className="pay-qr">
          <Qr value={receipt} label={t('receipt.address')} />
          <figcaption>{t('till.display.receipt')}</figcaption>
        </figure>
      )}
    </Full>
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

function Face({ merchant, brand, shown }: DisplayState): ReactNode {
  switch (shown.at) {
    case 'idle':
      return (
        <Waiting words={t('till.display.welcome')}>{brand === null ? undefined : null}</Waiting>
      );
    case 'cart':
      return <CartPart {...shown} />;
    case 'tip':
      return <Tip merchant={merchant} shown={shown} />;
    case 'pay':
      return <Pay {...shown} />;
    case 'asking':
      return <AskingPart {...shown} />;
    case 'accepted':
      return <AcceptedPart {...shown} />;
    case 'checking':
      return (
        <Full look="info" title={t(WORDS.checking)} name={RESULT_NAMES.checking} due={shown} />
      );
    case 'confirming':
      return (
        <Full
          look="info"
          title={t('till.display_confirm')}
          name={RESULT_NAMES.waiting}
          due={shown}
        />
      );
    case 'result':
      return <ResultPart {...shown} />;
  }
}

/** The window that faces the customer. Its only controls choose a tip. */
export function DisplayScreen(): ReactNode {
  const state = useDisplayState();
  const isIdle = state === null || state.shown.at === 'idle';
  return (
    <main className={`display ${isIdle ? 'is-idle' : ''}`}>
      <title>{t('till.display.page')}</title>
      {state?.brand == null ? null : <link rel="stylesheet" href={state.brand} />}
      <h1 className={state === null ? 'unseen' : 'branded'}>
        <bdi>{state?.merchant || t('till.display.heading')}</bdi>
      </h1>
      {state?.isOffline === true ? (
        <Notice tone="warn" icon="offline" role="status" data-result={RESULT_NAMES.offline}>
          <strong>{t(WORDS.offline)}</strong>
        </Notice>
      ) : null}
      {state === null ? <Waiting words={t('till.display_alone')} /> : <Face {...state} />}
    </main>
  );
}
