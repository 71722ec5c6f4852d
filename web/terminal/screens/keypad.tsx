import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { MAX_ATOMS } from '../../ui/format-usdc.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { decimalKey, readSum, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { charge, chargeWords, createOf } from '../charge.ts';
import { goTo } from '../page-path.ts';
import { nextPart, remaining } from '../split-bill.ts';
import { isTypedElsewhere, tillCurrency } from '../till-currency.ts';
import type { Till } from '../till-phases.ts';
import { WORDS } from '../till-words.ts';
import { FindLink } from './find-link.tsx';
import { SplitBanner, SplitDialog } from './lazy-parts.ts';
import { NotOpened } from './not-opened.tsx';
import type { TillContext } from './till-context.ts';
import { TillIcon } from './till-icon.tsx';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '0', 'Delete'] as const;
/** Longer than any amount. Keeps a keyboard-wedge reader's text from filling the field. */
const LONGEST = 16;
/** Beyond this many digits the font shrinks, so that all of them stay visible. */
const FULL_SIZE = 9;
/**
 * Limit for typing only (behavior.md 23.1). The service, which knows the rate, limits the value.
 */
const MAX_MINOR_UNITS = 1_000_000_000_000_000n;

interface KeysProps {
  /** `null` if the currency has no decimals; the till then shows no key for the separator. */
  readonly separator: string | null;
  readonly onKey: (key: string) => void;
}

function Keys({ separator, onKey }: KeysProps): ReactNode {
  return (
    <div className="keys">
      {KEYS.map((key) => {
        if (key === '.' && separator === null) return <span key={key} />;
        const shown = key === '.' ? separator : key;
        return (
          <button
            key={key}
            type="button"
            className="key"
            data-name={key}
            aria-label={key === 'Delete' ? t('till.keypad.delete') : (shown ?? key)}
            onClick={() => onKey(shown ?? key)}
          >
            {key === 'Delete' ? <TillIcon name="delete" /> : shown}
          </button>
        );
      })}
    </div>
  );
}

/** The area for tip, code and result on wide screens, in its idle state. */
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
  /** The amount in the till's currency. `null` if the input cannot be charged. */
  readonly units: bigint | null;
  /** The problem with an amount that could be parsed. */
  readonly problem: string | null;
}

function chargeable({ typed, split }: Till, currency: string | null): Chargeable {
  const wrote = split === null ? null : nextPart(split);
  const sum = readSum(typed, { ...sumRules(currency), wrote });
  if (sum.is !== 'sum') return { sum, units: null, problem: null };
  const tooMuch = split !== null && sum.units > remaining(split);
  const most = currency === null ? MAX_ATOMS : MAX_MINOR_UNITS;
  const tooLarge =
    sum.units > most ? t(WORDS.amountTooLarge, { sum: formatMoney(most, currency) }) : null;
  const problem = tooMuch ? t('till.split.problem.more_than_left') : tooLarge;
  return { sum, units: problem === null ? sum.units : null, problem };
}

/** Digits mean nothing before the till knows its currency. */
const UNREAD: Chargeable = { sum: { is: 'empty' }, units: null, problem: null };

interface MoreProps extends TillContext {
  /** The amount in the currency that could be charged now; `null` if there is none. */
  readonly total: bigint | null;
  readonly currency: string | null;
}

function More({ view, runner, total, currency }: MoreProps): ReactNode {
  const [splitting, setSplitting] = useState(false);
  return (
    <>
      <div className="row keypad-more">
        <Button kind="quiet" onClick={() => goTo('history/last')}>
          {t('till.keypad.last_payment_button')}
        </Button>
        <FindLink />
        {view.till.split === null && total !== null ? (
          <Button kind="quiet" onClick={() => setSplitting(true)}>
            {t('till.split.open_button')}
          </Button>
        ) : null}
      </div>
      {splitting && total !== null ? (
        <SplitDialog
          total={total}
          currency={currency}
          onClose={() => setSplitting(false)}
          onSplit={(chosen) => {
            setSplitting(false);
            runner.dispatch({ type: 'split', split: chosen });
          }}
        />
      ) : null}
    </>
  );
}

/** Explains why digits that were typed earlier are gone. */
function NewCurrency(): ReactNode {
  return (
    <Notice tone="warn" role="alert">
      <p>{t('till.keypad.new_currency')}</p>
    </Notice>
  );
}

export function KeypadScreen(context: TillContext): ReactNode {
  const { view, runner } = context;
  const field = useRef<HTMLFormElement>(null);
  useEffect(() => field.current?.querySelector('input')?.focus(), []);
  const known = tillCurrency(context);
  const currency = (known === undefined ? context.settings.currency : known) ?? null;
  const isElsewhere = isTypedElsewhere(view.till, known);
  const typed = isElsewhere ? '' : view.till.typed;
  const { sum, units, problem } =
    known === undefined ? UNREAD : chargeable({ ...view.till, typed }, known);
  const type = (text: string) =>
    runner.dispatch({ type: 'typed', text: text.slice(0, LONGEST), currency: known });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (units === null) return;
    void charge(context, createOf({ units, currency }, context));
  };
  return (
    <form ref={field} className="stack keypad" onSubmit={submit} noValidate>
      <title>{t('till.page')}</title>
      <h1 className="unseen">{t('till.keypad.heading')}</h1>
      <NotOpened phase={view.till.phase} />
      {isElsewhere ? <NewCurrency /> : null}
      {view.till.split === null ? null : <SplitBanner {...context} />}
      <SumField
        data-name="Amount"
        label={t('till.amount')}
        className={`input keypad-amount ${typed.length > FULL_SIZE ? 'keypad-amount-long' : ''}`}
        // The keys below replace the on-screen keyboard; a hardware keyboard works as well.
        inputMode="none"
        placeholder={writeSum(0n, sumRules(currency))}
        value={typed}
        sum={sum}
        currency={currency}
        error={problem}
        onText={type}
      />
      <Keys
        separator={decimalKey(sumRules(currency))}
        onKey={(key) => type(key === 'Delete' ? typed.slice(0, -1) : `${typed}${key}`)}
      />
      <Button data-name="Charge" type="submit" kind="primary" large wide disabled={units === null}>
        {chargeWords(units, currency)}
      </Button>
      <More {...context} total={units} currency={currency} />
      <CustomerSide />
    </form>
  );
}
