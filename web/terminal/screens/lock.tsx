import type { ReactNode } from 'react';
import { LockScreen as Lock } from '../../ui/lock-screen.tsx';
import type { TillContext } from './shift.tsx';

export function LockScreen({ settings, change, device }: TillContext): ReactNode {
  if (settings.pin === null) return null;
  return (
    <Lock
      pin={settings.pin}
      owner={device?.merchant_name}
      onUnlock={() => change({ locked: false })}
    />
  );
}
