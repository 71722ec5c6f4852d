import { type FormEvent, type ReactNode, useState } from 'react';
import type { AgentToken, NewAgentToken } from '../../data/payer.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Time } from '../../ui/time.tsx';
import { readSum, sumIn } from '../../ui/typed-sum.ts';
import { useHere } from '../here.tsx';
import { rowsOf, useAgentTokens } from '../queries.ts';
import { sumProblem } from '../words.ts';
import { More, Problem, Waiting } from './loading.tsx';
import { Refused } from './refused.tsx';
import { useChange } from './use-change.ts';

const TIMES = [
  { seconds: 600, words: '10 minutes' },
  { seconds: 3_600, words: 'An hour' },
  { seconds: 86_400, words: 'A day' },
] as const;

const STATUSES: Readonly<Record<AgentToken['status'], readonly [Tone, string]>> = {
  active: ['good', 'Can pay'],
  held: ['info', 'Paying'],
  spent: ['plain', 'Has paid'],
  expired: ['plain', 'Expired'],
  revoked: ['plain', 'Revoked'],
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
        label="Shop"
        hint="The shop’s account ID, as your agent received it."
        autoComplete="off"
        spellCheck={false}
        value={account}
        error={checked && !isAccount ? 'That isn’t a valid account ID. Ask the shop for it.' : null}
        onChange={(event) => setAccount(event.target.value)}
      />
      <SumField
        label="Amount"
        value={typed}
        sum={sum}
        shows
        error={checked ? wrong : null}
        onText={setTyped}
      />
      <Select
        label="Valid for"
        value={seconds}
        onChange={(event) => setSeconds(Number(event.target.value))}
      >
        {TIMES.map((time) => (
          <option key={time.seconds} value={time.seconds}>
            {time.words}
          </option>
        ))}
      </Select>
      <Refused problem={problem} />
      <Button type="submit" kind="primary" large busy={busy}>
        Create a token
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Not now
      </Button>
    </form>
  );
}

function NewToken({ onClose }: SheetProps): ReactNode {
  const [made, setMade] = useState<NewAgentToken | null>(null);
  if (made === null) {
    return (
      <Dialog title="A token for an AI agent" onClose={onClose}>
        <NewTokenForm onClose={onClose} onMade={setMade} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Your new token" onClose={onClose}>
      <p className="soft">
        Give it to the agent; it is shown only now. To this one shop, and once, it pays{' '}
        <Amount atoms={BigInt(made.amount)} />.
      </p>
      <CopyField label="Agent token" value={made.agent_token} />
      <Button kind="primary" large onClick={onClose}>
        Done
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
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="soft small">
        To <code>{token.account}</code>, until <Time at={token.expires_at} />
      </p>
      <Refused problem={problem} />
      {token.status === 'active' ? (
        <div className="row">
          <Button busy={busy} onClick={() => void change(() => api.revokeAgentToken(token.id))}>
            Revoke
          </Button>
        </div>
      ) : null}
    </li>
  );
}

export function AgentsPage(): ReactNode {
  const [making, setMaking] = useState(false);
  const tokens = useAgentTokens();
  const rows = rowsOf(tokens);
  return (
    <>
      <title>Agent tokens · Tapline</title>
      <div className="row row-apart">
        <h1>Agent tokens</h1>
        <Button kind="primary" onClick={() => setMaking(true)}>
          Create a token
        </Button>
      </div>
      {rows === null && tokens.isError ? <Problem of={tokens.error} /> : null}
      {rows === null && !tokens.isError ? <Waiting /> : null}
      {rows?.length === 0 ? (
        <EmptyState title="No tokens yet">
          A token lets an AI agent pay one amount to one shop, once. It never sees your key.
        </EmptyState>
      ) : null}
      {rows === null || rows.length === 0 ? null : (
        <ul className="stack stack-tight">
          {rows.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </ul>
      )}
      <More pages={tokens} />
      {making ? <NewToken onClose={() => setMaking(false)} /> : null}
    </>
  );
}
