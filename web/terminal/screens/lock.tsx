import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { LockScreen as Lock } from '../../ui/lock-screen.tsx';
import { t } from '../../ui/text/t.ts';
import type { TillContext } from './till-context.ts';

export interface LockProps extends TillContext {
  readonly onPairAgain: () => void;
}

export function LockScreen({ settings, change, device, onPairAgain }: LockProps): ReactNode {
  if (settings.pin === null) return null;
  return (
    <Lock
      pin={settings.pin}
      owner={device?.merchant_name}
      onUnlock={() => change({ locked: false })}
      otherWay={<Button onClick={onPairAgain}>{t('till.lock.forgot_button')}</Button>}
    />
  );
}
