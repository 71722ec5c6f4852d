import type { ReactNode } from 'react';
import { takesPasses } from '../till-machine.ts';
import type { Phase } from '../till-phases.ts';
import { AcceptedScreen, AskingScreen } from './lazy-offline.ts';
import { TipScreen } from './lazy-parts.ts';
import { CheckingScreen, ResultScreen, WorkingScreen } from './payment-result.tsx';
import type { TillContext } from './till-context.ts';
import { WaitingScreen } from './wait-for-tap.tsx';
import './payment.css';

/** Shows a payment from its request until its result is dismissed. */
export function PaymentScreen(context: TillContext): ReactNode {
  const phase: Phase = context.view.till.phase;
  switch (phase.at) {
    case 'keypad':
      return null;
    case 'creating':
    case 'canceling':
      return <WorkingScreen {...context} phase={phase} />;
    case 'open':
      return takesPasses(phase) ? (
        <WaitingScreen {...context} phase={phase} />
      ) : (
        <TipScreen {...context} phase={phase} />
      );
    case 'tapping':
    case 'following':
      return <CheckingScreen {...context} phase={phase} />;
    case 'result':
      return <ResultScreen {...context} phase={phase} />;
    case 'asking':
      return <AskingScreen {...context} phase={phase} />;
    case 'accepted':
      return <AcceptedScreen {...context} phase={phase} />;
  }
}
