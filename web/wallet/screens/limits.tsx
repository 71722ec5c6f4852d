import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { Payer, Wallet } from '../../data/payer-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum, writeSum } from '../../ui/typed-sum.ts';
import { limitIn, limitProblem } from '../sum-problems.ts';
import { useApproval } from '../use-approval.ts';
import { useHere } from '../wallet-context.tsx';
import { useMe, useWallet } from '../wallet-reads.ts';
import { formatRate, walletStatusOf } from '../wallet-status.ts';
import { AllowSheet } from './allow-sheet.tsx';
import { ApprovalNotice } from './approval-notice.tsx';
import { CONTRACTS } from './contracts-notice.tsx';
import { PageLink } from './frame.tsx';
import { Problem, Waiting } from './loading.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField, openerOf } from './unlock-method.tsx';
import { useChange } from './use-change.ts';

/** Signs a permit for zero. Afterwards nothing can be taken, whatever the policy says. */
function StopSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const here = useHere();
  const toast = useToast();
  const [password, setPassword] = useState('');
  const { flow, submit } = useApproval(here.api);
  const { refresh, vault } = here;
  const send = (event: FormEvent) => {
    event.preventDefault();
    const opener = openerOf(vault, password);
    void submit(async () => {
      const { signAgreement } = await import('../sign-agreement.ts');
      return signAgreement({ here, opener, agreed: null });
    });
  };
  useEffect(() => {
    if (flow.at !== 'done') return;
    refresh();
    toast(t('wallet.stop.done'));
    onClose();
  }, [flow, refresh, toast, onClose]);
  return (
    <Dialog title={t('wallet.stop.heading')} onClose={onClose}>
      <form className="stack" onSubmit={send} noValidate>
        <p>{t('wallet.stop.text')}</p>
        <OpenerField vault={vault} password={password} onChange={setPassword} />
        <ApprovalNotice flow={flow} />
        <Button type="submit" kind="danger" large busy={flow.at !== 'editing'}>
          {t('wallet.stop.button')}
        </Button>
        <Button kind="quiet" onClick={onClose}>
          {t('wallet.stop.keep_button')}
        </Button>
      </form>
    </Dialog>
  );
}

function factsOf({ policy, allowance }: Wallet) {
  const sum = (atoms: number) => <Amount atoms={BigInt(atoms)} />;
  if (policy === null) return [[t('wallet.limits.fact.total'), sum(allowance)]] as const;
  return [
    [t('wallet.limits.fact.per_payment'), sum(policy.per_payment)],
    [t('wallet.limits.fact.per_day'), sum(policy.per_period)],
    [t('wallet.limits.fact.spent_today'), sum(policy.spent)],
    [t('wallet.limits.fact.left'), sum(allowance)],
    [t('wallet.limits.fact.fees'), formatRate(policy.max_fee_rate)],
    [t('wallet.limits.fact.until'), <Time key="until" at={policy.expires_at} shape="day" />],
  ] as const;
}

function ChainLimits({ wallet }: { readonly wallet: Wallet }): ReactNode {
  const { api } = useHere();
  const [open, setOpen] = useState<'change' | 'stop' | null>(null);
  const isClosed = walletStatusOf(wallet, api.now()) === 'not_allowed';
  const action = isClosed ? t('wallet.allow.button') : t('wallet.allow.change_button');
  const close = () => setOpen(null);
  return (
    <section className="card stack">
      <h2>{t('wallet.limits.chain.heading')}</h2>
      <p className="soft">
        {isClosed ? t('wallet.limits.chain.closed') : t('wallet.limits.chain.open')}
      </p>
      <Facts facts={factsOf(wallet)} />
      <div className="row">
        <Button kind={isClosed ? 'primary' : 'plain'} onClick={() => setOpen('change')}>
          {action}
        </Button>
        {wallet.allowance === 0 ? null : (
          <Button kind="danger" onClick={() => setOpen('stop')}>
            {t('wallet.stop.button')}
          </Button>
        )}
      </div>
      {open === 'change' ? <AllowSheet action={action} wallet={wallet} onClose={close} /> : null}
      {open === 'stop' ? <StopSheet onClose={close} /> : null}
    </section>
  );
}

/** Empty means no limit. */
function useLimit(before: number | null) {
  const [wrote] = useState(before === null ? null : BigInt(before));
  const [value, setValue] = useState(wrote === null ? '' : writeSum(wrote));
  const sum = readSum(value, { wrote });
  const field = { value, onText: setValue, sum, error: limitProblem(sum), shows: true };
  return { limit: limitIn(sum), field };
}

/**
 * Edits the additional limits that the service enforces. A change needs no signature and applies
 * immediately.
 */
function OwnLimits({ payer }: { readonly payer: Payer }): ReactNode {
  const { api } = useHere();
  const toast = useToast();
  const { busy, problem, change } = useChange();
  const each = useLimit(payer.limits.per_payment);
  const daily = useLimit(payer.limits.per_day);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (each.limit === undefined || daily.limit === undefined) return;
    const limits = { per_payment: each.limit, per_day: daily.limit };
    if ((await change(() => api.changeLimits(limits))) !== null) toast(t('wallet.limits.own.done'));
  };
  return (
    <form className="card stack" onSubmit={save} noValidate>
      <h2>{t('wallet.limits.own.heading')}</h2>
      <p className="soft">{t('wallet.limits.own.text')}</p>
      <Switch
        label={t('wallet.limits.own.first_payment')}
        checked={payer.limits.confirm_first_payment}
        disabled={busy}
        onChange={(on) => void change(() => api.changeLimits({ confirm_first_payment: on }))}
      />
      <div className="terms">
        <SumField label={t('wallet.limits.own.per_payment')} {...each.field} />
        <SumField label={t('wallet.limits.own.per_day')} {...daily.field} />
      </div>
      <ProblemNotice problem={problem} />
      <div className="row">
        <Button type="submit" busy={busy}>
          {t('wallet.limits.own.button')}
        </Button>
      </div>
    </form>
  );
}

export function LimitsPage(): ReactNode {
  const wallet = useWallet();
  const me = useMe();
  const failed = wallet.error ?? me.error;
  return (
    <>
      <title>{t('wallet.limits.page')}</title>
      <h1>{t('wallet.limits.heading')}</h1>
      {wallet.data === undefined ? null : <ChainLimits wallet={wallet.data} />}
      {me.data === undefined ? null : <OwnLimits payer={me.data} />}
      <section className="card stack">
        <h2>{t('wallet.end.heading')}</h2>
        <p className="soft">{t('wallet.limits.end.text')}</p>
        <PageLink path="wallet/take-back">{t('wallet.end.link')}</PageLink>
        <PageLink path={CONTRACTS}>{t('wallet.limits.contracts_link')}</PageLink>
      </section>
      {wallet.data === undefined && failed === null ? <Waiting /> : null}
      {wallet.data === undefined && failed !== null ? <Problem of={failed} /> : null}
    </>
  );
}
