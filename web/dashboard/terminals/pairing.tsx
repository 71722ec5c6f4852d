import { type ReactNode, useState } from 'react';
import { ActionButton } from '../../desk/action-button.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

const PairingCode = partOf(async () => (await import('./pairing-code.tsx')).PairingCode);

interface Code {
  readonly code: string;
  readonly expires_at: string;
}

export interface PairingProps {
  readonly terminal: string;
  /** The code that was created together with the terminal. */
  readonly first?: Code;
  /**
   * True for a till that no device has used yet: leaves out the explanations and the option to
   * remove a PIN.
   */
  readonly brief?: boolean;
}

/** Shows a code that the device scans or types. The code works once, for ten minutes. */
export function Pairing({ terminal, first, brief = false }: PairingProps): ReactNode {
  const { call } = useMerchant();
  const [code, setCode] = useState<Code | null>(first ?? null);
  const request = (with_factor: boolean) => () =>
    call('POST /accounts/{account}/{mode}/terminals/{id}/pairing_code', {
      path: { id: terminal },
      body: { with_factor },
    });
  const make = (
    <>
      <ActionButton request={request(false)} onDone={setCode}>
        {t('dashboard.pairing.new_code.button')}
      </ActionButton>
      {brief ? null : (
        <ActionButton request={request(true)} onDone={setCode}>
          {t('dashboard.pairing.new_unlock_code.button')}
        </ActionButton>
      )}
    </>
  );
  if (code === null) {
    return (
      <div className="stack stack-tight">
        <p className="soft">
          {t(brief ? 'dashboard.pairing.brief' : 'dashboard.pairing.explained')}
        </p>
        <div className="row">{make}</div>
      </div>
    );
  }
  return (
    <PairingCode code={code.code} expiresAt={code.expires_at}>
      {make}
    </PairingCode>
  );
}
