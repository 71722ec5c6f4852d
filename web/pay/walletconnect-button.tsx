import { type ReactNode, useRef, useState } from 'react';
import { Button, buttonClass } from '../ui/button.tsx';
import { partOf } from '../ui/lazy-part.ts';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import { Refused } from './connect-wallet.ts';
import type { WayProps } from './injected-wallet.tsx';
import { inviteWallet, openClient, type RelayClient } from './walletconnect-session.ts';

const Qr = partOf(async () => (await import('../ui/qr.tsx')).Qr);

type Inviting =
  | { readonly is: 'closed' | 'opening' | 'entered' }
  | { readonly is: 'open'; readonly uri: string }
  | { readonly is: 'failed'; readonly problem: string };

export function WalletConnectWay({ step, payment }: WayProps): ReactNode {
  const [inviting, setInviting] = useState<Inviting>({ is: 'closed' });
  const client = useRef<RelayClient | null>(null);
  const isSigning = step.busy && inviting.is === 'entered';
  const start = async () => {
    setInviting({ is: 'opening' });
    try {
      client.current ??= await openClient();
      const { uri, wallet } = await inviteWallet(client.current, step.link.chain_id);
      setInviting({ is: 'open', uri });
      const entered = await wallet;
      setInviting({ is: 'entered' });
      payment.pay(async () => entered);
    } catch (error) {
      const problem = t(error instanceof Refused ? 'pay.problem.refused' : 'pay.problem.failed');
      setInviting({ is: 'failed', problem });
    }
  };
  if (step.busy) {
    return !isSigning ? null : (
      <Notice tone="info" role="status">
        {t('pay.in_wallet')}
      </Notice>
    );
  }
  if (inviting.is === 'open') {
    return (
      <section className="card pay-code">
        <h2>{t('pay.walletconnect.heading')}</h2>
        <p>{t('pay.walletconnect.text')}</p>
        <Qr value={inviting.uri} label={t('pay.walletconnect.code')} />
        <a className={buttonClass({ wide: true })} href={inviting.uri}>
          {t('pay.walletconnect.link')}
        </a>
      </section>
    );
  }
  return (
    <>
      {inviting.is === 'failed' ? (
        <Notice tone="bad" role="alert">
          {inviting.problem}
        </Notice>
      ) : null}
      <Button wide busy={inviting.is === 'opening'} onClick={() => void start()}>
        {t('pay.walletconnect.button')}
      </Button>
    </>
  );
}
