import { type ReactNode, useState } from 'react';
import type { Wallet } from '../../data/payer-api.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { useOnline } from '../../data/use-online.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { balanceOf } from '../known-balance.ts';
import { forgetWayBack, wayBack } from '../return-to-payment.ts';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, usePasses, usePayments, useWallet } from '../wallet-reads.ts';
import { sumLength, type WalletStatus, walletStatusOf } from '../wallet-status.ts';
import { useKept } from '../wallet-storage.ts';
import { BackupNotice } from './backup-notice.tsx';
import { PageLink } from './frame.tsx';
import { PaymentRow } from './history.tsx';
import { AllowSheet, BalanceValue, ReceiveSheet, ScanSheet, SendSheet } from './lazy-pages.ts';
import { Problem, Waiting } from './loading.tsx';
import { PayButton } from './pay-button.tsx';

const NEWEST = 3;

/** Requests test money. The new balance is the only confirmation. */
function Faucet(): ReactNode {
  const { api, refresh } = useHere();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const ask = async () => {
    setBusy(true);
    setProblem(null);
    const answer = await api.faucet();
    if (answer.is === 'done' && answer.value.status !== 'failed') {
      toast(
        answer.value.status === 'succeeded' ? t('wallet.faucet.done') : t('wallet.faucet.waiting'),
      );
    } else if (answer.is === 'refused') setProblem(refusalText(answer.error));
    else if (answer.is === 'not_sent') setProblem(t('wallet.problem.not_sent'));
    else setProblem(t('wallet.faucet.unknown'));
    refresh();
    setBusy(false);
  };
  return (
    <>
      <Button busy={busy} onClick={ask}>
        {t('wallet.faucet.button')}
      </Button>
      {problem === null ? null : (
        <Notice tone="warn" role="alert">
          {problem}
        </Notice>
      )}
    </>
  );
}

const TITLES: Readonly<Record<WalletStatus, TextKey>> = {
  not_allowed: 'wallet.home.status.not_allowed',
  expired: 'wallet.home.status.expired',
  used_up: 'wallet.home.status.used_up',
  no_money: 'wallet.home.status.no_money',
  ready: 'wallet.home.status.ready',
};

interface ShownProps {
  readonly wallet: Wallet;
  readonly online: boolean;
}

function Permission({ wallet, online }: ShownProps): ReactNode {
  const { api } = useHere();
  const [asking, setAsking] = useState(false);
  const status = walletStatusOf(wallet, api.now());
  const { policy } = wallet;
  const needsYes = status !== 'ready' && status !== 'no_money';
  const title = status === 'ready' && !online ? 'wallet.home.status.offline' : TITLES[status];
  return (
    <section className="card stack" aria-label={t('wallet.home.payments')}>
      <h2 className="row">
        <span className={`wallet-status wallet-status-${needsYes ? 'open' : 'done'}`}>
          <Icon name={needsYes ? 'lock' : 'good'} />
        </span>
        <span>{t(wallet.former === null ? title : 'wallet.home.moved.heading')}</span>
      </h2>
      {policy === null || needsYes ? (
        <p className="soft">
          {wallet.former === null ? t('wallet.home.allow.text') : t('wallet.home.moved.text')}
        </p>
      ) : (
        <p className="soft">
          {rich('wallet.home.allowed', {
            sum: () => <Amount atoms={BigInt(policy.per_payment)} />,
            daily: () => <Amount atoms={BigInt(policy.per_period)} />,
            until: () => <Time at={policy.expires_at} shape="day" />,
          })}
        </p>
      )}
      {needsYes ? (
        <Button large wide disabled={!online} onClick={() => setAsking(true)}>
          {t('wallet.allow.button')}
        </Button>
      ) : null}
      {asking ? (
        <AllowSheet
          action={t('wallet.allow.button')}
          wallet={wallet}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </section>
  );
}

function Newest(): ReactNode {
  const payments = usePayments();
  const rows = rowsOf(payments);
  const passes = rowsOf(usePasses());
  if (rows === null) return payments.isError ? <Problem of={payments.error} /> : <Waiting />;
  if (rows.length === 0) {
    const hasPass = passes?.some(({ status }) => status === 'active') === true;
    return (
      <section className="card stack">
        <h2>{t('wallet.no_payments')}</h2>
        <p className="soft">
          {hasPass ? t('wallet.home.first.with_pass') : t('wallet.home.first.without_pass')}
        </p>
        <PageLink path="wallet/passes">
          {hasPass ? t('wallet.home.first.passes_link') : t('wallet.home.first.add_link')}
        </PageLink>
      </section>
    );
  }
  return (
    <section className="stack stack-tight">
      <div className="row row-apart">
        <h2>{t('wallet.home.latest.heading')}</h2>
        <PageLink path="wallet/history">{t('wallet.home.latest.link')}</PageLink>
      </div>
      <ul className="payments">
        {rows.slice(0, NEWEST).map((payment) => (
          <PaymentRow key={payment.id} payment={payment} />
        ))}
      </ul>
    </section>
  );
}

/** True if the page may ask for a camera, which only secure pages can. */
const HAS_CAMERA = navigator.mediaDevices !== undefined;

interface BalanceProps {
  readonly balance: bigint;
  /** `null` while the service is unreachable. */
  readonly wallet: Wallet | null;
}

function Balance({ balance, wallet }: BalanceProps): ReactNode {
  const { network } = useHere();
  const currency = useKept('currency');
  const [open, setOpen] = useState<'receive' | 'send' | 'scan' | null>(null);
  const [to, setTo] = useState('');
  const close = () => {
    setOpen(null);
    setTo('');
  };
  const sendTo = (address: string) => {
    setTo(address);
    setOpen('send');
  };
  return (
    <section className="balance" aria-label={t('wallet.home.balance')}>
      <p className="soft">{t('wallet.home.balance')}</p>
      <p className={`balance-sum ${sumLength(balance)}`}>
        <Amount atoms={balance} />
      </p>
      {currency === null ? null : <BalanceValue atoms={balance} currency={currency} />}
      <PayButton wallet={wallet} />
      <div className="row">
        <Button data-name="Send" disabled={wallet === null} onClick={() => setOpen('send')}>
          {t('wallet.send.open_button')}
        </Button>
        <Button data-name="Receive" onClick={() => setOpen('receive')}>
          {t('wallet.receive.open_button')}
        </Button>
        {HAS_CAMERA && wallet !== null ? (
          <Button onClick={() => setOpen('scan')}>{t('wallet.scan.button')}</Button>
        ) : null}
        {network === 'testnet' && wallet !== null ? <Faucet /> : null}
      </div>
      {open === 'receive' ? <ReceiveSheet onClose={close} /> : null}
      {open === 'scan' ? <ScanSheet onAddress={sendTo} onClose={close} /> : null}
      {open === 'send' && wallet !== null ? (
        <SendSheet wallet={wallet} to={to} onClose={close} />
      ) : null}
    </section>
  );
}

export function HomePage(): ReactNode {
  const { network, vault } = useHere();
  const { data = null, isError, error } = useWallet();
  const online = useOnline();
  const [back] = useState(wayBack);
  const known = online && !isError ? null : balanceOf(network, vault.address);
  const balance = data === null ? known : BigInt(data.balance);
  if (balance === null && !isError) return <Waiting />;
  return (
    <>
      <title>{t('wallet.page')}</title>
      <h1 className="unseen">{t('wallet.heading')}</h1>
      {data === null && isError ? <Problem of={error} /> : null}
      {balance === null ? (
        <PayButton wallet={null} />
      ) : (
        <Balance balance={balance} wallet={online ? data : null} />
      )}
      {back === null ? null : (
        <a
          className={buttonClass({ kind: 'primary', large: true, wide: true })}
          href={back}
          onClick={forgetWayBack}
        >
          {t('wallet.home.back_to_payment')}
        </a>
      )}
      {data === null ? null : (
        <>
          <BackupNotice />
          <Permission wallet={data} online={online} />
          <Newest />
        </>
      )}
    </>
  );
}
