import { type ReactNode, useState } from 'react';
import type { Pass, PassCode, Wallet } from '../../data/payer.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { type Standing, standingOf, sumLength } from '../allowance.ts';
import { askOwner, asksEach } from '../each-payment.ts';
import { useHere } from '../here.tsx';
import { rowsOf, usePasses, usePayments, useWallet } from '../queries.ts';
import { forgetWayBack, wayBack } from '../way-back.ts';
import { BackupNotice } from './backup-notice.tsx';
import { PageLink } from './frame.tsx';
import { PaymentRow } from './history.tsx';
import { AllowSheet, PassCodeSheet, ReceiveSheet, SendSheet } from './lazy.ts';
import { Problem, Waiting } from './loading.tsx';
import { Refused } from './refused.tsx';
import { useChange } from './use-change.ts';

const NEWEST = 3;

/** Money to try things with; what became of the request is read from the balance. */
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
      toast(answer.value.status === 'succeeded' ? 'Test USDC has arrived.' : 'It is on its way.');
    } else if (answer.is === 'refused') setProblem(answer.error.message);
    else if (answer.is === 'not_sent') setProblem('Not sent: there is no connection.');
    else setProblem('We don’t know yet whether it worked. Check the balance in a moment.');
    refresh();
    setBusy(false);
  };
  return (
    <>
      <Button busy={busy} onClick={ask}>
        Get test USDC
      </Button>
      {problem === null ? null : (
        <Notice tone="warn" role="alert">
          {problem}
        </Notice>
      )}
    </>
  );
}

/** From home to a code that a till can scan: one press. */
function CodeForTill({ pass }: { readonly pass: Pass }): ReactNode {
  const { api, vault } = useHere();
  const { busy, problem, change } = useChange();
  const [refused, setRefused] = useState<string | null>(null);
  const [code, setCode] = useState<PassCode | null>(null);
  const show = async () => {
    const wrong = asksEach(vault) ? await askOwner(vault) : null;
    setRefused(wrong);
    if (wrong === null) setCode(await change(() => api.createPassCode(pass.id)));
  };
  return (
    <>
      <Button kind="primary" large wide busy={busy} onClick={show}>
        Show code
      </Button>
      <Refused problem={refused ?? problem} />
      {code === null ? null : (
        <PassCodeSheet pass={pass} made={code} onClose={() => setCode(null)} />
      )}
    </>
  );
}

const TITLES: Readonly<Record<Standing, string>> = {
  not_allowed: 'Payments are not allowed yet',
  expired: 'Your permission has expired',
  used_up: 'Your allowance is almost used up',
  no_money: 'The wallet is empty',
  ready: 'Ready to pay',
};

function Permission({ wallet }: { readonly wallet: Wallet }): ReactNode {
  const { api } = useHere();
  const [asking, setAsking] = useState(false);
  const standing = standingOf(wallet, api.now());
  const { policy } = wallet;
  const pass = rowsOf(usePasses())?.find(({ status }) => status === 'active');
  const needsYes = standing !== 'ready' && standing !== 'no_money';
  return (
    <section className="card stack" aria-label="Payments">
      <h2 className="row">
        <span className={`standing standing-${needsYes ? 'open' : 'done'}`}>
          <Icon name={needsYes ? 'lock' : 'good'} />
        </span>
        <span>
          {wallet.former === null ? TITLES[standing] : 'Shops are moving to a new contract'}
        </span>
      </h2>
      {policy === null || needsYes ? (
        <p className="soft">
          {wallet.former === null
            ? 'Set how much shops may take when you present a pass. It is free, and ' +
              'you can stop it at any time.'
            : 'The network has a new contract. Allow payments there with the same limits: it is ' +
              'free. What you allowed before still applies in shops that have not moved.'}
        </p>
      ) : (
        <p className="soft">
          Up to <Amount atoms={BigInt(policy.per_payment)} /> per payment and{' '}
          <Amount atoms={BigInt(policy.per_period)} /> a day (UTC), until{' '}
          <Time at={policy.expires_at} shape="day" />.
        </p>
      )}
      {needsYes ? (
        <Button kind="primary" large wide onClick={() => setAsking(true)}>
          Allow payments
        </Button>
      ) : null}
      {standing === 'ready' && pass !== undefined ? <CodeForTill pass={pass} /> : null}
      {asking ? (
        <AllowSheet action="Allow payments" wallet={wallet} onClose={() => setAsking(false)} />
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
        <h2>No payments yet</h2>
        <p className="soft">
          {hasPass
            ? 'Present your pass at a till. The payment appears here within seconds.'
            : 'A pass is what you present at a till: a code on your phone, or a card with a chip.'}
        </p>
        <PageLink path="wallet/passes">{hasPass ? 'See your passes' : 'Add a pass'}</PageLink>
      </section>
    );
  }
  return (
    <section className="stack stack-tight">
      <div className="row row-apart">
        <h2>Latest payments</h2>
        <PageLink path="wallet/history">View all</PageLink>
      </div>
      <ul className="payments">
        {rows.slice(0, NEWEST).map((payment) => (
          <PaymentRow key={payment.id} payment={payment} />
        ))}
      </ul>
    </section>
  );
}

export function HomePage(): ReactNode {
  const { network } = useHere();
  const wallet = useWallet();
  const [receiving, setReceiving] = useState(false);
  const [sending, setSending] = useState(false);
  const [back] = useState(wayBack);
  if (wallet.data === undefined) {
    return wallet.isError ? <Problem of={wallet.error} /> : <Waiting />;
  }
  return (
    <>
      <title>Wallet · Tapline</title>
      <h1 className="unseen">Wallet</h1>
      <section className="balance" aria-label="Balance">
        <p className="soft">Balance</p>
        <p className={`balance-sum ${sumLength(BigInt(wallet.data.balance))}`}>
          <Amount atoms={BigInt(wallet.data.balance)} />
        </p>
        <div className="row">
          <Button onClick={() => setReceiving(true)}>Receive</Button>
          <Button onClick={() => setSending(true)}>Send</Button>
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
          Back to the payment
        </a>
      )}
      <BackupNotice />
      <Permission wallet={wallet.data} />

      <Newest />
    </>
  );
}
