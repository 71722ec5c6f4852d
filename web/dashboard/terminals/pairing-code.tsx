import type { ReactNode } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { buttonClass } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Qr } from '../../ui/qr.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';

/** The code is in the URL fragment, which no server sees. */
function linkOf(code: string): string {
  return fromRoot(`terminal#pair=${code}`).href;
}

export interface PairingCodeProps {
  readonly code: string;
  readonly expiresAt: string;
  /** The buttons that create another code. */
  readonly children: ReactNode;
}

/** Loaded on demand: most visits need no code. */
export function PairingCode({ code, expiresAt, children }: PairingCodeProps): ReactNode {
  return (
    <div className="stack">
      <Qr value={linkOf(code)} label={t('dashboard.pairing.link_for_the_device.label')} />
      <CopyField
        data-name="Pairing code"
        label={t('dashboard.pairing.pairing_code.label')}
        value={code}
      />
      <p className="soft small">
        {rich('dashboard.pairing.text', {
          address: () => <span className="id">{fromRoot('terminal').href}</span>,
          time: () => <Time at={expiresAt} shape="clock" />,
        })}
      </p>
      <div className="row">
        <a className={buttonClass({})} href={linkOf(code)} target="_blank" rel="noreferrer">
          {t('dashboard.pairing.open_the_till_here.link')}
        </a>
        {children}
      </div>
    </div>
  );
}
