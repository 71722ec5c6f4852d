import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { rich } from '../../ui/text/rich.ts';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { useMerchant } from '../merchant.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

interface Code {
  readonly code: string;
  readonly expires_at: string;
}

/**
 * Returns a link that pairs the device that opens it. The code is in the URL fragment, which no
 * server sees.
 */
function linkOf(code: string): string {
  return fromRoot(`terminal#pair=${code}`).href;
}

export interface PairingProps {
  readonly terminal: string;
  /** The code that was created together with the terminal. */
  readonly first?: Code;
  /**
   * For a till that no device has used yet: omits the explanations and the option to remove a PIN.
   */
  readonly brief?: boolean;
}

/** Shows a code that the device scans or types. It is valid once, for ten minutes. */
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
    <div className="stack">
      <Qr value={linkOf(code.code)} label={t('dashboard.pairing.link_for_the_device.label')} />
      <CopyField
        data-name="Pairing code"
        label={t('dashboard.pairing.pairing_code.label')}
        value={code.code}
      />
      <p className="soft small">
        {rich('dashboard.pairing.text', {
          address: () => <span className="id">{fromRoot('terminal').href}</span>,
          time: () => <Time at={code.expires_at} shape="clock" />,
        })}
      </p>
      <div className="row">
        <a className={buttonClass({})} href={linkOf(code.code)} target="_blank" rel="noreferrer">
          {t('dashboard.pairing.open_the_till_here.link')}
        </a>
        {make}
      </div>
    </div>
  );
}
