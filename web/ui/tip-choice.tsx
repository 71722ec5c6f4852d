import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Amount } from './amount.tsx';
import { Button } from './button.tsx';
import { Choice } from './choice.tsx';
import { formatPrice, sumRules } from './format-price.ts';
import { formatUsdc } from './format-usdc.ts';
import { priceOf, type Quoted } from './quoted-price.ts';
import { SumField } from './sum-field.tsx';
import { t } from './text/t.ts';
import { rich } from './text/tagged-text.ts';
import { atomsOfPrice, tippedPrice } from './tip-price.ts';
import { readSum, type TypedSum, writeSum } from './typed-sum.ts';
import './tip-choice.css';

/** One cent in atoms, because tips are whole cents. */
const CENT = 10_000n;
/** 10 USDC. Sales below this amount get round tips. */
const SMALL = 10_000_000n;
const ROUND_TIPS = [500_000n, 1_000_000n, 2_000_000n] as const;

function tipOf(amount: bigint, percentage: number): bigint {
  const exact = (amount * BigInt(percentage)) / 100n;
  return exact >= CENT ? (exact / CENT) * CENT : exact;
}

export interface TipChoiceProps {
  readonly merchant: string;
  /** In atoms. */
  readonly amount: bigint;
  /** The price of the sale in the shop's currency. If set, the tip is also in that currency. */
  readonly quoted?: Quoted | null;
  readonly percentages: readonly number[];
  readonly onTip: (tip: bigint) => void;
  readonly children?: ReactNode;
}

interface Offer {
  /** The result's name in English, regardless of the page's language. */
  readonly name: string;
  readonly label: string;
  readonly atoms: bigint;
}

/**
 * Returns round tips (a half, one and two units) for a sale below ten units of its currency, and
 * none for larger sales.
 */
function roundTips({ currency, amount }: Quoted): bigint[] {
  const { decimals = 0 } = sumRules(currency);
  const one = 10n ** BigInt(decimals);
  if (decimals === 0 || BigInt(amount) >= 10n * one) return [];
  return [one / 2n, one, 2n * one].filter((units) => units <= BigInt(amount));
}

/** Returns tips in whole minor units of the sale's currency, rounded half up. */
function pricedOffers(quoted: Quoted, percentages: readonly number[]): Offer[] {
  const { currency, amount } = quoted;
  const offer = (units: bigint, words: (sum: string) => Pick<Offer, 'name' | 'label'>) => {
    const atoms = atomsOfPrice(units, quoted);
    return { ...words(formatPrice({ currency, units })), atoms };
  };
  const parts = percentages.map((percentage) =>
    offer((BigInt(amount) * BigInt(percentage) + 50n) / 100n, (sum) => ({
      name: `${percentage} %`,
      label: t('tip.percentage', { percent: String(percentage), sum }),
    })),
  );
  const round = roundTips(quoted).map((units) =>
    offer(units, (sum) => ({ name: sum, label: named(sum) })),
  );
  return [...parts, ...round];
}

/**
 * Returns the tips to offer: the shop's percentages and, for a small sale, also round amounts,
 * because a percentage of it is only a few cents.
 */
function offersOf(amount: bigint, percentages: readonly number[]): Offer[] {
  const parts = percentages.map((percentage) => {
    const atoms = tipOf(amount, percentage);
    const sum = formatUsdc(atoms);
    const label = t('tip.percentage', { percent: String(percentage), sum });
    return { name: `${percentage} %`, label, atoms };
  });
  if (amount >= SMALL) return parts;
  const round = ROUND_TIPS.filter((atoms) => atoms <= amount);
  return [
    ...parts,
    ...round.map((atoms) => ({ name: formatUsdc(atoms), label: formatUsdc(atoms), atoms })),
  ];
}

/** Returns the typed tip, or `null` if it is not valid. */
function ownTip(typed: TypedSum, { amount, quoted = null }: TipChoiceProps): bigint | null {
  if (typed.is !== 'sum') return null;
  const atoms = quoted === null ? typed.units : atomsOfPrice(typed.units, quoted);
  return atoms > 0n && atoms <= amount ? atoms : null;
}

function offersFor({ amount, quoted = null, percentages }: TipChoiceProps): Offer[] {
  return quoted === null ? offersOf(amount, percentages) : pricedOffers(quoted, percentages);
}

/** Formats the amount with this tip, in the currency of the sale. */
function sumWords({ amount, quoted = null }: TipChoiceProps, tip: bigint): string {
  const price = tippedPrice(quoted, tip);
  return price === null ? formatUsdc(amount + tip) : formatPrice(price);
}

export function TipChoice(props: TipChoiceProps): ReactNode {
  const { merchant, amount, quoted = null, onTip, children } = props;
  const [chosen, setChosen] = useState<Offer | null>(null);
  const [typed, setTyped] = useState('');
  const rules = sumRules(quoted?.currency ?? null);
  const own = readSum(typed, rules);
  const isOwn = own.is !== 'empty';
  const tip = isOwn ? ownTip(own, props) : (chosen?.atoms ?? null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (tip !== null) onTip(tip);
  };
  return (
    <form className="stack tip" onSubmit={submit} noValidate>
      <title>{t('tip.page')}</title>
      <h1>{t('tip.heading')}</h1>
      <p>
        {rich(
          'tip.charged',
          { sum: () => <Amount atoms={amount} price={priceOf(quoted)} /> },
          { merchant },
        )}
      </p>
      <fieldset className="tip-choices">
        <legend className="unseen">{t('tip.choices')}</legend>
        {offersFor(props).map((offer) => (
          <Choice
            key={offer.label}
            name="tip"
            data-name={offer.name}
            value={offer.label}
            label={offer.label}
            checked={!isOwn && chosen?.label === offer.label}
            onChange={() => {
              setChosen(offer);
              setTyped('');
            }}
          />
        ))}
      </fieldset>
      <SumField
        label={t('tip.custom')}
        placeholder={writeSum(0n, rules)}
        value={typed}
        sum={own}
        currency={quoted?.currency ?? null}
        error={isOwn && tip === null ? t('tip.too_large', { sum: sumWords(props, 0n) }) : null}
        onText={setTyped}
      />
      <Button data-name="Add tip" type="submit" kind="primary" large wide disabled={tip === null}>
        {tip === null ? t('tip.add') : t('tip.add_and_pay', { sum: sumWords(props, tip) })}
      </Button>
      <Button data-name="No tip" large wide onClick={() => onTip(0n)}>
        {t('tip.none')}
      </Button>
      {children}
    </form>
  );
}
