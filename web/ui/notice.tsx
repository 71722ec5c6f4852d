import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import type { Tone } from './status.tsx';

const ICONS: Readonly<Record<Tone, IconName>> = {
  good: 'good',
  bad: 'bad',
  warn: 'warn',
  info: 'info',
  plain: 'info',
};

export interface NoticeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  /**
   * `alert` interrupts a screen reader; `status` waits. Leave it out for a notice that is present
   * from the start.
   */
  readonly role?: 'alert' | 'status';
  /** Set for the result of a payment (behavior.md 21). */
  readonly 'data-result'?: string | undefined;
  readonly children: ReactNode;
}

export function Notice({ tone, icon, role, children, ...names }: NoticeProps): ReactNode {
  return (
    <div
      className={`notice ${tone === 'plain' ? 'notice-plain' : `is-${tone}`}`}
      role={role}
      {...names}
    >
      <Icon name={icon ?? ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}
