import { type ReactNode, useState } from 'react';
import { ActionButton } from '../../desk/action-button.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant } from '../merchant.ts';

interface Code {
  readonly code: string;
  readonly expires_at: string;
}

/** Lets one till give one thing back that its clerk may not give back alone. */
export function ManagerCode(): ReactNode {
  const { call } = useMerchant();
  const [made, setMade] = useState<Code | null>(null);
  return (
    <>
      <ActionButton
        request={() => call('POST /accounts/{account}/{mode}/manager_codes', {})}
        onDone={setMade}
      >
        Manager code
      </ActionButton>
      {made === null ? null : (
        <ShownOnce
          title="Manager code"
          label="Enter it at the till"
          secret={made.code}
          onClose={() => setMade(null)}
        >
          <p className="soft">
            It allows one refund of a sale from another till, or of a large amount, until{' '}
            <Time at={made.expires_at} shape="clock" />.
          </p>
        </ShownOnce>
      )}
    </>
  );
}
