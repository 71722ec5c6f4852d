import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { useMerchant } from '../merchant.ts';

/** An id opened in the wrong mode is the usual reason why there is nothing. */
export function OtherMode(): ReactNode {
  const { mode, setMode } = useMerchant();
  const other = mode === 'test' ? 'live' : 'test';
  return (
    <span className="stack">
      <span>
        This is {mode} mode. What belongs to {other} mode is not shown here.
      </span>
      <Button onClick={() => setMode(other)}>Switch to {other} mode</Button>
    </span>
  );
}
