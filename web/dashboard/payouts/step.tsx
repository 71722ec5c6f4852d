import type { ReactNode } from 'react';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';

interface StepProps {
  readonly name: string;
  readonly isDone: boolean;
  /** Instructions, shown until the step is done. */
  readonly children?: ReactNode;
}

export function Step({ name, isDone, children }: StepProps): ReactNode {
  return (
    <li className="step">
      <Status tone={isDone ? 'good' : 'plain'}>
        {isDone ? t('dashboard.live_steps.done') : t('dashboard.live_steps.to_do')}
      </Status>
      <div>
        {name}
        {isDone || children === undefined ? null : <>: {children}</>}
      </div>
    </li>
  );
}
