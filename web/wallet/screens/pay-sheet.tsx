import { type ReactNode, useState } from 'react';
import type { Pass, PassCode, Wallet } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { askOwner, asksEach } from '../passkey-per-payment.ts';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, usePasses } from '../wallet-reads.ts';
import { walletStatusOf } from '../wallet-status.ts';
import { AllowSheet } from './allow-sheet.tsx';
import { PassCodeSheet } from './pass-code.tsx';
import { PayOfflineButton } from './pay-offline-button.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

interface Made {
  readonly pass: Pass;
  readonly code: PassCode;
}

interface ShowCodeProps {
  readonly wallet: Wallet;
  readonly onMade: (made: Made) => void;
  /** Called if the wallet does not allow payments yet. */
  readonly onAllow: () => void;
}

/** Makes a code that a till can scan. A wallet without a pass gets one for this device first. */
function ShowCode({ wallet, onMade, onAllow }: ShowCodeProps): ReactNode {
  const { api, vault } = useHere();
  const { busy, problem, change } = useChange();
  const [refused, setRefused] = useState<string | null>(null);
  const passes = rowsOf(usePasses());
  const status = walletStatusOf(wallet, api.now());
  const isAllowed = status === 'ready' || status === 'no_money';
  const show = async () => {
    if (!isAllowed) return onAllow();
    const wrong = asksEach(vault) ? await askOwner(vault) : null;
    setRefused(wrong);
    if (wrong !== null) return;
    const active = passes?.find((pass) => pass.status === 'active');
    const pass = active ?? (await change(() => api.createPass(t('wallet.pay.own_pass'))));
    const code = pass === null ? null : await change(() => api.createPassCode(pass.id));
    if (pass === null || code === null) return;
    onMade({ pass, code });
  };
  return (
    <>
      <p className="soft">{t(isAllowed ? 'wallet.pay.code_text' : 'wallet.pay.not_allowed')}</p>
      {/* A pass must not be made twice, so the passes come first. */}
      <Button
        data-name="Show code"
        kind="primary"
        large
        wide
        busy={busy || passes === null}
        onClick={show}
      >
        {t('wallet.show_code')}
      </Button>
      <ProblemNotice problem={refused ?? problem} />
    </>
  );
}

export interface PaySheetProps {
  /** `null` if the wallet is offline or signed out: then it can only pay offline. */
  readonly wallet: Wallet | null;
  readonly onClose: () => void;
}

/** The two ways to pay at a till. */
export function PaySheet({ wallet, onClose }: PaySheetProps): ReactNode {
  const [made, setMade] = useState<Made | null>(null);
  const [allows, setAllows] = useState(false);
  if (made !== null) return <PassCodeSheet pass={made.pass} made={made.code} onClose={onClose} />;
  if (allows && wallet !== null) {
    const action = t('wallet.allow.button');
    return <AllowSheet action={action} wallet={wallet} onClose={() => setAllows(false)} />;
  }
  return (
    <Dialog title={t('wallet.pay.heading')} onClose={onClose}>
      {wallet === null ? null : (
        <ShowCode wallet={wallet} onMade={setMade} onAllow={() => setAllows(true)} />
      )}
      <p className="soft">{t('wallet.pay.offline_text')}</p>
      <PayOfflineButton />
    </Dialog>
  );
}
