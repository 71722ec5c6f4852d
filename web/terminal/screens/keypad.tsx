import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { formatUsdc, MAX_ATOMS } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { rich } from '../../ui/text/rich.ts';
import { t } from '../../ui/text/t.ts';
import { readSum, type TypedSum } from '../../ui/typed-sum.ts';
import type { Create, Till } from '../phases.ts';
import { goTo } from '../place.ts';
import { nextPart, remaining } from '../split.ts';
import { remarkWords, WORDS } from '../words.ts';
import { FindLink } from './find-link.tsx';
import { SplitDialog } from './lazy.ts';
import type { TillContext } from './shift.tsx';
import { TillIcon } from './till-icon.tsx';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '0', 'Delete'] as const;
/** Longer than any amount. Text of a keyboard-wedge reader must not fill the field. */
const LONGEST = 16;
/** Beyond this many digits the font shrinks, so that all of them stay visible. */
const FULL_SIZE = 9;
const TIP_PERCENTAGES = [10, 15, 20] as const;

function Keys({ onKey }: { readonly onKey: (key: string) => void }): ReactNode {
  return (
    <div className="keys">
      {KEYS.map((key) => (
        <button
          key={key}
          type="button"
          className="key"
          data-name={key}
          aria-label={key === 'Delete' ? t('till.keypad.delete') : key}
          onClick={() => onKey(key)}
        >
          {key === 'Delete' ? <TillIcon name="delete" /> : key}
        </button>
      ))}
    </div>
  );
}

function SplitBanner({ view, runner }: TillContext): ReactNode {
  const { split } = view.till;
  if (split === null) return null;
  const part = split.paidParts + 1;
  const whole = { total: () => <Amount atoms={split.total} /> };
  const tags = { ...whole, left: () => <Amount atoms={remaining(split)} /> };
  const all = split.paidParts + split.parts.length;
  return (
    <Notice tone="info">
      <p>
        {split.parts.length > 0
          ? rich('till.split.part_of', tags, { part, all })
          : rich('till.split.part', tags, { part })}
      </p>
      <Button onClick={() => runner.dispatch({ type: 'split', split: null })}>
        {t('till.split.end_button')}
      </Button>
    </Notice>
  );
}

/** The area for tip, code and result on wide screens, shown in its idle state. */
function CustomerSide(): ReactNode {
  return (
    <aside className="customer-side" aria-label={t('till.keypad.customer_side')}>
      <TillIcon name="tap" />
      <p>{t('till.keypad.customer_side_text')}</p>
    </aside>
  );
}

interface Chargeable {
  readonly sum: TypedSum;
  /** `null` if the input is not an amount that can be charged. */
  readonly atoms: bigint | null;
  /** The problem with an amount that could be parsed. */
  readonly problem: string | null;
}

function chargeable({ typed, split }: Till): Chargeable {
  const sum = readSum(typed, { wrote: split === null ? null : nextPart(split) });
  if (sum.is !== 'sum') return { sum, atoms: null, problem: null };
  const tooMuch = split !== null && sum.units > remaining(split);
  const tooLarge =
    sum.units > MAX_ATOMS ? t(WORDS.amountTooLarge, { sum: formatUsdc(MAX_ATOMS) }) : null;
  const problem = tooMuch ? t('till.split.problem.more_than_left') : tooLarge;
  return { sum, atoms: problem === null ? sum.units : null, problem };
}

function Remarked({ view }: TillContext): ReactNode {
  const { phase } = view.till;
  if (phase.at !== 'keypad' || phase.remark === null) return null;
  const { title, hint } = remarkWords(phase.remark);
  return (
    <Notice tone="warn" role="alert">
      <strong>{title}</strong>
      <p>{hint}</p>
    </Notice>
  );
}

function createOf(amount: bigint, { view, settings }: TillContext): Create {
  return {
    key: crypto.randomUUID(),
    amount,
    splitGroup: view.till.split?.group ?? null,
    tipping: settings.asksForTips ? TIP_PERCENTAGES : null,
    cashier: settings.cashier || null,
  };
}

function chargeWords(atoms: bigint | null): string {
  if (atoms === null) return t('till.charge.button');
  return t('till.charge.button_sum', { sum: formatUsdc(atoms) });
}

/** The idle till: above all, a plain keypad. */
export function KeypadScreen(context: TillContext): ReactNode {
  const { view, runner } = context;
  const { typed, split } = view.till;
  const [splitting, setSplitting] = useState(false);
  const field = useRef<HTMLFormElement>(null);
  useEffect(() => field.current?.querySelector('input')?.focus(), []);
  const { sum, atoms, problem } = chargeable(view.till);
  const type = (text: string) => runner.dispatch({ type: 'typed', text: text.slice(0, LONGEST) });
  const charge = (event: FormEvent) => {
    event.preventDefault();
    if (atoms !== null) runner.dispatch({ type: 'charge', create: createOf(atoms, context) });
  };
  return (
    <form ref={field} className="stack keypad" onSubmit={charge} noValidate>
      <title>{t('till.page')}</title>
      <h1 className="unseen">{t('till.keypad.heading')}</h1>
      <Remarked {...context} />
      <SplitBanner {...context} />
      <SumField
        data-name="Amount"
        label={t('till.amount')}
        className={`input keypad-amount ${typed.length > FULL_SIZE ? 'keypad-amount-long' : ''}`}
        // The keys below replace the on-screen keyboard; a hardware keyboard works as well.
        inputMode="none"
        placeholder="0.00"
        value={typed}
        sum={sum}
        error={problem}
        onText={type}
      />
      <Keys onKey={(key) => type(key === 'Delete' ? typed.slice(0, -1) : `${typed}${key}`)} />
      <Button data-name="Charge" type="submit" kind="primary" large wide disabled={atoms === null}>
        {chargeWords(atoms)}
      </Button>
      <div className="row keypad-more">
        <Button kind="quiet" onClick={() => goTo('history/last')}>
          {t('till.keypad.last_payment_button')}
        </Button>
        <FindLink />
        {split === null && atoms !== null ? (
          <Button kind="quiet" onClick={() => setSplitting(true)}>
            {t('till.split.open_button')}
          </Button>
        ) : null}
      </div>
      <CustomerSide />
      {splitting && atoms !== null ? (
        <SplitDialog
          total={atoms}
          onClose={() => setSplitting(false)}
          onSplit={(chosen) => {
            setSplitting(false);
            runner.dispatch({ type: 'split', split: chosen });
          }}
        />
      ) : null}
    </form>
  );
}
