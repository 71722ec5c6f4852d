import { type FormEvent, type ReactNode, useState } from 'react';
import { Amount } from './amount.tsx';
import { Button } from './button.tsx';
import { Choice } from './choice.tsx';
import { formatUsdc, roundAtoms } from './money.ts';
import { SumField } from './sum-field.tsx';
import { readSum, type TypedSum } from './typed-sum.ts';
import './tip-choice.css';

/** Whole cents: nobody tips a hundredth of one. */
const CENT = 10_000n;
/** Below 10 USDC. */
const SMALL = 10_000_000n;
const ROUND_TIPS = [500_000n, 1_000_000n, 2_000_000n] as const;

function tipOf(amount: bigint, percentage: number): bigint {
  const exact = (amount * BigInt(percentage)) / 100n;
  return exact >= CENT ? (exact / CENT) * CENT : exact;
}

export interface TipChoiceProps {
  readonly merchant: string;
  readonly amount: bigint;
  readonly percentages: readonly number[];
  readonly onTip: (tip: bigint) => void;
  /** What else can be done. */
  readonly children?: ReactNode;
}

interface Offer {
  readonly label: string;
  readonly atoms: bigint;
}

/** Percentages as the shop chose them; of a small sum they are cents, so round sums stand below. */
function offersOf(amount: bigint, percentages: readonly number[]): Offer[] {
  const parts = percentages.map((percentage) => {
    const atoms = tipOf(amount, percentage);
    return { label: `${percentage} % · ${roundAtoms(atoms)} USDC`, atoms };
  });
  if (amount >= SMALL) return parts;
  const round = ROUND_TIPS.filter((atoms) => atoms <= amount);
  return [...parts, ...round.map((atoms) => ({ label: formatUsdc(atoms), atoms }))];
}

/** What was typed; null: no tip that can be given. */
function ownTip(typed: TypedSum, amount: bigint): bigint | null {
  return typed.is === 'sum' && typed.units <= amount ? typed.units : null;
}

/** A step of its own that faces the customer: presets, an own amount, none, and no hurry. */
export function TipChoice(props: TipChoiceProps): ReactNode {
  const { merchant, amount, percentages, onTip, children } = props;
  const [chosen, setChosen] = useState<Offer | null>(null);
  const [typed, setTyped] = useState('');
  const own = readSum(typed);
  const isOwn = own.is !== 'empty';
  const tip = isOwn ? ownTip(own, amount) : (chosen?.atoms ?? null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (tip !== null) onTip(tip);
  };
  return (
    <form className="stack tip" onSubmit={submit} noValidate>
      <title>Tip · Tapline</title>
      <h1>Would you like to leave a tip?</h1>
      <p>
        <bdi>{merchant}</bdi> charges <Amount atoms={amount} />
      </p>
      <fieldset className="tip-choices">
        <legend className="unseen">Tip</legend>
        {offersOf(amount, percentages).map((offer) => (
          <Choice
            key={offer.label}
            name="tip"
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
        label="Custom tip"
        placeholder="0.00"
        value={typed}
        sum={own}
        error={isOwn && tip === null ? `A tip is at most ${formatUsdc(amount)}.` : null}
        onText={setTyped}
      />
      <Button type="submit" kind="primary" large wide disabled={tip === null}>
        Add tip
        {tip === null ? '' : ` and pay ${formatUsdc(amount + tip)}`}
      </Button>
      <Button large wide onClick={() => onTip(0n)}>
        No tip
      </Button>
      {children}
    </form>
  );
}
