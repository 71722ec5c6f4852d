import { type FormEvent, type ReactNode, useState } from 'react';
import { Amount } from './amount.tsx';
import { Button } from './button.tsx';
import { Choice } from './choice.tsx';
import { formatUsdc } from './money.ts';
import './tip-choice.css';

/** Whole cents: nobody tips a hundredth of one. */
const CENT = 10_000n;

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

/** A step of its own that faces the customer: presets, none, and no hurry. */
export function TipChoice(props: TipChoiceProps): ReactNode {
  const { merchant, amount, percentages, onTip, children } = props;
  const [chosen, setChosen] = useState<number | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen !== null) onTip(tipOf(amount, chosen));
  };
  return (
    <form className="stack tip" onSubmit={submit}>
      <title>Tip · Tapline</title>
      <h1>Would you like to leave a tip?</h1>
      <p>
        <bdi>{merchant}</bdi> charges <Amount atoms={amount} />
      </p>
      <fieldset className="tip-choices">
        <legend className="unseen">Tip</legend>
        {percentages.map((percentage) => (
          <Choice
            key={percentage}
            name="tip"
            value={String(percentage)}
            label={`${percentage} % · ${formatUsdc(tipOf(amount, percentage))}`}
            checked={chosen === percentage}
            onChange={() => setChosen(percentage)}
          />
        ))}
      </fieldset>
      <Button type="submit" kind="primary" large wide disabled={chosen === null}>
        Add tip
        {chosen === null ? '' : ` and pay ${formatUsdc(amount + tipOf(amount, chosen))}`}
      </Button>
      <Button large wide onClick={() => onTip(0n)}>
        No tip
      </Button>
      {children}
    </form>
  );
}
