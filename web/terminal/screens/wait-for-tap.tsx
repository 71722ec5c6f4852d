import { type ReactNode, useEffect, useState } from 'react';
import type { TestPasses } from '../../data/types/device.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { dueFor, Total } from '../../ui/sale-total.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { formatLeft, useTimeLeft } from '../../ui/time-left.ts';
import { tipPrice } from '../../ui/tip-price.ts';
import { hasCamera } from '../reader/camera.ts';
import { needsClick } from '../reader/read-chip-on-iphone.ts';
import { type Read, readText } from '../reader/read-credential.ts';
import { hasNfc } from '../reader/read-nfc.ts';
import { cashierDecline } from '../result-words.ts';
import { signal } from '../sounds-and-vibration.ts';
import type { Open } from '../till-phases.ts';
import { remarkWords, unreadWords, WORDS } from '../till-words.ts';
import { CancelPaymentButton } from './cancel-payment-button.tsx';
import { ChipAsksPart } from './chip-prompts.tsx';
import { Counter, Qr, ScanDialog } from './lazy-parts.ts';
import type { TillContext } from './till-context.ts';
import { TillIcon } from './till-icon.tsx';

type WaitingProps = TillContext & { readonly phase: Open };

type Passes = TestPasses['passes'];

/** Delay before the test passes are requested again after a connection failure. */
const PASSES_AGAIN_MS = 1_000;

function useTestPasses({ api, device }: TillContext): Passes {
  const [passes, setPasses] = useState<Passes>([]);
  const isTest = device?.livemode === false;
  useEffect(() => {
    if (!isTest) return;
    let isCurrent = true;
    const load = async () => {
      while (isCurrent) {
        const answer = await api.testPasses();
        if (answer.is === 'done') return setPasses(answer.value.passes);
        await new Promise((resolve) => setTimeout(resolve, PASSES_AGAIN_MS));
      }
    };
    void load();
    return () => {
      isCurrent = false;
    };
  }, [api, isTest]);
  return passes;
}

function TestPass({
  passes,
  onRead,
}: {
  readonly passes: Passes;
  readonly onRead: (read: Read) => void;
}): ReactNode {
  return (
    <Select
      data-name="Test pass"
      label={t('till.waiting.test_pass')}
      hint={t('till.waiting.test_pass_hint')}
      value=""
      onChange={(event) => {
        const chosen = passes.find(({ name }) => name === event.target.value);
        if (chosen === undefined) return;
        onRead({ is: 'pass', credential: { type: 'nfc_id', value: chosen.credential } });
      }}
    >
      <option value="" disabled>
        {t('till.waiting.test_pass_none')}
      </option>
      {passes.map(({ name }) => (
        <option key={name} value={name} translate="no">
          {name}
        </option>
      ))}
    </Select>
  );
}

function TimeLeft({ phase, view }: WaitingProps): ReactNode {
  const whole = Date.parse(phase.intent.expires_at) - Date.parse(phase.intent.created);
  const left = Math.min(useTimeLeft(phase.intent.expires_at, view.clockOffsetMs), whole);
  return (
    <div className="left">
      <progress aria-label={t('till.waiting.timer')} max={whole} value={Math.max(0, left)} />
      <span className="number small" role="timer">
        {t('till.time_left', { time: formatLeft(left) })}
      </span>
    </div>
  );
}

function Declined({ phase, runner }: WaitingProps): ReactNode {
  return (
    <>
      <section
        className="outcome outcome-small is-full-bad"
        role="alert"
        data-result={RESULT_NAMES.declined}
      >
        <Icon name="bad" />
        <h1>{t(WORDS.outcome.declined)}</h1>
        <p>{cashierDecline(phase.intent)}</p>
      </section>
      <Button data-name="New payment" large wide onClick={() => runner.dispatch({ type: 'again' })}>
        {t('till.new_payment')}
      </Button>
    </>
  );
}

function Invitation({ phase, device }: WaitingProps): ReactNode {
  const { description, presentment } = phase.intent;
  const tip = phase.tip ?? 0n;
  const url = phase.intent.payment_url;
  return (
    <>
      <div className="due">
        <Total {...dueFor(phase.intent, tip, device?.fee_rates)} />
        {tip === 0n ? null : (
          <p className="soft">
            {rich('till.with_tip', {
              sum: () => <Amount atoms={tip} price={tipPrice(presentment, tip)} />,
            })}
          </p>
        )}
        {description === null ? null : (
          <p dir="auto" translate="no">
            {description}
          </p>
        )}
      </div>
      <div className="pay-side stack">
        <div className="tap-here">
          <TillIcon name="tap" />
          <p>{hasNfc() ? t('till.waiting.hold_here') : t('till.waiting.hold_reader')}</p>
        </div>
        {url === null ? null : (
          <figure className="pay-qr">
            <Qr value={url} label={t('till.waiting.pay_code')} />
            <figcaption className="soft small">{t('till.waiting.pay_code_text')}</figcaption>
          </figure>
        )}
      </div>
    </>
  );
}

/** Shows what a signing card needs from its holder, or that it must stay in place. */
export function ChipState({ readers }: Pick<TillContext, 'readers'>): ReactNode {
  if (readers.asked !== null) return <ChipAsksPart asked={readers.asked} />;
  if (!readers.signing) return null;
  return (
    <section className="outcome outcome-small is-full-info" role="status">
      <Icon name="wait" />
      <h2>{t('till.keep_card')}</h2>
      <p>{t('till.keep_card_hint')}</p>
    </section>
  );
}

/** Shows a button in browsers that need a click for each card. */
export function HoldCard({ readers }: Pick<TillContext, 'readers'>): ReactNode {
  const [isHolding, setIsHolding] = useState(false);
  if (readers.signing || (!hasNfc() && !needsClick())) return null;
  return (
    <>
      <Button
        onClick={() => {
          setIsHolding(true);
          readers.holdCard();
        }}
      >
        {t('till.waiting.hold_card_button')}
      </Button>
      {isHolding ? (
        <p className="soft small" role="status">
          {hasNfc() ? t(WORDS.holdAtBack) : t(WORDS.holdAtTop)}
        </p>
      ) : null}
    </>
  );
}

function Remark({ phase: { remark } }: WaitingProps): ReactNode {
  if (remark === null) return null;
  const { title, hint } = remarkWords(remark);
  return (
    <Notice
      tone="warn"
      role="alert"
      data-result={remark.kind === 'not_sent' ? RESULT_NAMES.not_sent : undefined}
    >
      <strong>{title}</strong>
      <p>{hint}</p>
    </Notice>
  );
}

export function WaitingScreen(props: WaitingProps): ReactNode {
  const { phase, runner, settings, readers, device } = props;
  const { onRead, unread } = readers;
  const passes = useTestPasses(props);
  const [scanning, setScanning] = useState(false);
  useEffect(() => {
    if (phase.declined || unread !== null) signal('bad', settings.sound);
  }, [phase.declined, unread, settings.sound]);
  useEffect(() => {
    if (readers.signing) signal('wait', settings.sound);
  }, [readers.signing, settings.sound]);
  return (
    <div className="stack waiting">
      <title>{t('till.waiting.page')}</title>
      {phase.declined ? (
        <Declined {...props} />
      ) : (
        <h1 className="unseen">{t('till.waiting.heading')}</h1>
      )}
      <Remark {...props} />
      {unread === null || readers.signing ? null : (
        <Notice tone="warn" role="alert">
          <p>{unreadWords(unread, device?.tag_url ?? null)}</p>
        </Notice>
      )}
      <ChipState readers={readers} />
      <Invitation {...props} />
      <TimeLeft {...props} />
      {passes.length === 0 ? null : <TestPass passes={passes} onRead={onRead} />}
      <HoldCard {...props} />
      {hasCamera() ? (
        <Button onClick={() => setScanning(true)}>{t('till.waiting.scan_button')}</Button>
      ) : null}
      {phase.declined ? null : (
        <CancelPaymentButton onClick={() => runner.dispatch({ type: 'cancel' })} />
      )}
      {passes.length === 0 ? null : (
        <Counter passes={passes} tag={device?.tag_url ?? null} onRead={onRead} />
      )}
      {scanning ? (
        <ScanDialog
          title={t('till.waiting.scan_heading')}
          isOwn={(text) => readText(text).is === 'pass'}
          onClose={() => setScanning(false)}
          onCode={(text) => {
            setScanning(false);
            onRead(readText(text));
          }}
        />
      ) : null}
    </div>
  );
}
