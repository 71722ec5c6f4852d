import type { ReactNode } from 'react';
import { priceOf } from '../../ui/quoted-price.ts';
import { Sum } from '../../ui/sum.tsx';
import { TipChoice } from '../../ui/tip-choice.tsx';
import { tipPercentages } from '../till-machine.ts';
import type { Open } from '../till-phases.ts';
import { CancelPaymentButton } from './cancel-payment-button.tsx';
import type { TillContext } from './till-context.ts';

/** Asks for a tip before the pass is presented, with the till turned to the customer. */
export function TipScreen({
  phase,
  runner,
  device,
}: TillContext & { readonly phase: Open }): ReactNode {
  return (
    <TipChoice
      merchant={device?.merchant_name ?? ''}
      amount={BigInt(phase.intent.amount)}
      quoted={phase.intent.presentment}
      percentages={tipPercentages(phase.intent) ?? []}
      onTip={(tip) => runner.dispatch({ type: 'tip', tip })}
    >
      <div className="tip-cashier">
        <Sum atoms={BigInt(phase.intent.amount)} price={priceOf(phase.intent.presentment)} />
        <CancelPaymentButton kind="quiet" onClick={() => runner.dispatch({ type: 'cancel' })} />
      </div>
    </TipChoice>
  );
}
