import { type ReactNode, useState } from 'react';
import type { Pass, PassCode, Wallet } from '../../data/payer-api.ts';
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
import { askOwner, asksEach } from '../passkey-per-payment.ts';
import { forgetWayBack, wayBack } from '../return-to-payment.ts';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, usePasses, usePayments, useWallet } from '../wallet-reads.ts';
import { sumLength, type WalletStatus, walletStatusOf } from '../wallet-status.ts';
import { BackupNotice } from './backup-notice.tsx';
import { PageLink } from './frame.tsx';
import { PaymentRow } from './history.tsx';
import { AllowSheet, PassCodeSheet, PaymentMoment, ReceiveSheet, SendSheet } from './lazy-pages.ts';
import { Problem, Waiting } from './loading.tsx';
import { PayOfflineButton } from './pay-offline-button.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

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

interface CodeProps {
  readonly pass: Pass;
  readonly online: boolean;
}

/** Shows a code that a till can scan, one click from home. */
function CodeForTill({ pass, online }: CodeProps): ReactNode {
  const { api, vault } = useHere();
  const { busy, problem, change } = useChange();
  const [refused, setRefused] = useState<string | null>(null);
  const [code, setCode] = useState<PassCode | null>(null);
  const show = async () => {
    // So that the code's result appears without a delay.
    void PaymentMoment.load().catch(() => {});
    const wrong = asksEach(vault) ? await askOwner(vault) : null;
    setRefused(wrong);
    if (wrong === null) setCode(await change(() => api.createPassCode(pass.id)));
  };
  return (
    <>
      {online ? (
        <Button kind="primary" large wide busy={busy} onClick={show}>
          {t('wallet.show_code')}
        </Button>
      ) : null}
      <ProblemNotice problem={refused ?? problem} />
      {code === null ? null : (
        <PassCodeSheet pass={pass} made={code} onClose={() => setCode(null)} />
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

function Permission({ wallet }: { readonly wallet: Wallet }): ReactNode {
  const { api } = useHere();
  const [asking, setAsking] = useState(false);
  const status = walletStatusOf(wallet, api.now());
  const { policy } = wallet;
  const pass = rowsOf(usePasses())?.find(({ status }) => status === 'active');
  const needsYes = status !== 'ready' && status !== 'no_money';
  const online = useOnline();
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
        <Button kind="primary" large wide onClick={() => setAsking(true)}>
          {t('wallet.allow.button')}
        </Button>
      ) : null}
      {status === 'ready' && pass !== undefined ? (
        <CodeForTill pass={pass} online={online} />
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

/** Shown while the service is unreachable; the wallet can still pay at a till. */
function Unreachable({ error }: { readonly error: Error }): ReactNode {
  return (
    <>
      <Problem of={error} />
      <div>
        <PayOfflineButton />
      </div>
    </>
  );
}

export function HomePage(): ReactNode {
  const { network } = useHere();
  const wallet = useWallet();
  const [receiving, setReceiving] = useState(false);
  const [sending, setSending] = useState(false);
  const [back] = useState(wayBack);
  if (wallet.data === undefined) {
    return wallet.isError ? <Unreachable error={wallet.error} /> : <Waiting />;
  }
  return (
    <>
      <title>{t('wallet.page')}</title>
      <h1 className="unseen">{t('wallet.heading')}</h1>
      <section className="balance" aria-label={t('wallet.home.balance')}>
        <p className="soft">{t('wallet.home.balance')}</p>
        <p className={`balance-sum ${sumLength(BigInt(wallet.data.balance))}`}>
          <Amount atoms={BigInt(wallet.data.balance)} />
        </p>
        <div className="row">
          <Button onClick={() => setReceiving(true)}>{t('wallet.receive.open_button')}</Button>
          <Button onClick={() => setSending(true)}>{t('wallet.send.open_button')}</Button>
          <PayOfflineButton />
          {network === 'testnet' ? <Faucet /> : null}
        </div>
      </section>
      {receiving ? <ReceiveSheet onClose={() => setReceiving(false)} /> : null}
      {sending ? <SendSheet wallet={wallet.data} onClose={() => setSending(false)} /> : null}
      {back === null ? null : (
        <a
          className={buttonClass({ kind: 'primary', large: true, wide: true })}
          href={back}
          onClick={forgetWayBack}
        >
          {t('wallet.home.back_to_payment')}
        </a>
      )}
      <BackupNotice />
      <Permission wallet={wallet.data} />

      <Newest />
    </>
  );
}
