import { type FormEvent, type ReactNode, useState } from 'react';
import type { AgentToken, NewAgentToken } from '../../data/payer-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { readSum, sumIn } from '../../ui/typed-sum.ts';
import { sumProblem } from '../sum-problems.ts';
import { useHere } from '../wallet-context.tsx';
import { useAgentTokens } from '../wallet-reads.ts';
import { PagedList } from './paged-list.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

const TIMES = [
  { seconds: 600, words: 'wallet.agents.valid_for.ten_minutes' },
  { seconds: 3_600, words: 'wallet.agents.valid_for.hour' },
  { seconds: 86_400, words: 'wallet.agents.valid_for.day' },
] as const;

const STATUSES: Readonly<Record<AgentToken['status'], readonly [Tone, TextKey]>> = {
  active: ['good', 'wallet.agents.status.active'],
  held: ['info', 'wallet.agents.status.held'],
  spent: ['plain', 'wallet.agents.status.spent'],
  expired: ['plain', 'wallet.agents.status.expired'],
  revoked: ['plain', 'wallet.agents.status.revoked'],
};

interface SheetProps {
  readonly onClose: () => void;
}

function NewTokenForm({ onClose, onMade }: SheetProps & { onMade: (made: NewAgentToken) => void }) {
  const { api } = useHere();
  const [account, setAccount] = useState('');
  const [typed, setTyped] = useState('');
  const [seconds, setSeconds] = useState<number>(TIMES[1].seconds);
  const [checked, setChecked] = useState(false);
  const { busy, problem, change } = useChange();
  const sum = readSum(typed);
  const wrong = sumProblem(sum);
  const isAccount = /^acct_\w+$/.test(account.trim());
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (!isAccount || wrong !== null) return;
    const body = { account: account.trim(), amount: Number(sumIn(sum)), expires_in: seconds };
    const made = await change(() => api.createAgentToken(body));
    if (made !== null) onMade(made);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        label={t('wallet.agents.shop')}
        hint={t('wallet.agents.shop_hint')}
        autoComplete="off"
        spellCheck={false}
        value={account}
        error={checked && !isAccount ? t('wallet.agents.problem.shop') : null}
        onChange={(event) => setAccount(event.target.value)}
      />
      <SumField
        data-name="Amount"
        label={t('wallet.agents.amount')}
        value={typed}
        sum={sum}
        shows
        error={checked ? wrong : null}
        onText={setTyped}
      />
      <Select
        label={t('wallet.valid_for.label')}
        value={seconds}
        onChange={(event) => setSeconds(Number(event.target.value))}
      >
        {TIMES.map((time) => (
          <option key={time.seconds} value={time.seconds}>
            {t(time.words)}
          </option>
        ))}
      </Select>
      <ProblemNotice problem={problem} />
      <Button type="submit" kind="primary" large busy={busy}>
        {t('wallet.agents.create.button')}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </form>
  );
}

function NewToken({ onClose }: SheetProps): ReactNode {
  const [made, setMade] = useState<NewAgentToken | null>(null);
  if (made === null) {
    return (
      <Dialog title={t('wallet.agents.create.heading')} onClose={onClose}>
        <NewTokenForm onClose={onClose} onMade={setMade} />
      </Dialog>
    );
  }
  return (
    <Dialog title={t('wallet.agents.created.heading')} onClose={onClose}>
      <p className="soft">
        {rich('wallet.agents.created.text', { sum: () => <Amount atoms={BigInt(made.amount)} /> })}
      </p>
      <CopyField label={t('wallet.agents.created.token')} value={made.agent_token} />
      <Button kind="primary" large onClick={onClose}>
        {t('wallet.done')}
      </Button>
    </Dialog>
  );
}

function TokenRow({ token }: { readonly token: AgentToken }): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const [tone, word] = STATUSES[token.status];
  return (
    <li className="card stack stack-tight">
      <div className="row row-apart">
        <strong>
          <Amount atoms={BigInt(token.amount)} />
        </strong>
        <Status tone={tone}>{t(word)}</Status>
      </div>
      <p className="soft small">
        {rich('wallet.agents.for_shop', {
          shop: () => <code>{token.account}</code>,
          until: () => <Time at={token.expires_at} />,
        })}
      </p>
      <ProblemNotice problem={problem} />
      {token.status === 'active' ? (
        <div className="row">
          <Button busy={busy} onClick={() => void change(() => api.revokeAgentToken(token.id))}>
            {t('wallet.agents.revoke.button')}
          </Button>
        </div>
      ) : null}
    </li>
  );
}

export function AgentsPage(): ReactNode {
  const [making, setMaking] = useState(false);
  const tokens = useAgentTokens();
  return (
    <>
      <title>{t('wallet.agents.page')}</title>
      <div className="row row-apart">
        <h1>{t('wallet.agents.heading')}</h1>
        <Button kind="primary" onClick={() => setMaking(true)}>
          {t('wallet.agents.create.button')}
        </Button>
      </div>
      <PagedList
        pages={tokens}
        empty={{ title: t('wallet.agents.empty.heading'), text: t('wallet.agents.empty.text') }}
        className="stack stack-tight"
        row={(token) => <TokenRow key={token.id} token={token} />}
      />
      {making ? <NewToken onClose={() => setMaking(false)} /> : null}
    </>
  );
}
