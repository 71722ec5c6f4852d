import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from 'react';
import type { Wallet } from '../../data/payer-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { typedUsdc } from '../../ui/format-usdc.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { readSum } from '../../ui/typed-sum.ts';
import { type Sending, sendable } from '../pending-transfer.ts';
import { problemOf } from '../problem-words.ts';
import { follow, keepSending, type Plan, planSending, signSending } from '../send-usdc.ts';
import { readableCoin, TRANSFER_GAS_LIMIT } from '../wallet-chain-node.ts';
import { useHere } from '../wallet-context.tsx';
import { useKept } from '../wallet-storage.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

/** Splits the address into groups of four characters, so that it can be compared piece by piece. */
function inFours(address: string): string {
  return address.replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** The form's values, kept while the user reviews the plan. */
interface Draft {
  readonly recipient: string;
  readonly typed: string;
}

interface FormProps {
  readonly wallet: Wallet;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly problem: string | null;
  readonly onPlanned: (plan: Plan) => void;
  readonly onClose: () => void;
}

function SendForm(props: FormProps): ReactNode {
  const { wallet, draft, onDraft, problem, onPlanned, onClose } = props;
  const here = useHere();
  const { recipient, typed } = draft;
  const sum = readSum(typed);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<{ readonly to?: string; readonly sum?: string }>({});
  const [said, setSaid] = useState(problem);
  const review = async (event: FormEvent) => {
    event.preventDefault();
    // The field already shows why the amount is refused. Loading the code that checks the address
    // would only make the form ignore the next click, on the corrected amount.
    if (busy || sum.is === 'refused') return;
    setBusy(true);
    setSaid(null);
    setWrong({});
    const atoms = sendable(sum, wallet);
    try {
      const planned = await planSending({ here, wallet, recipient, atoms });
      if ('plan' in planned) return onPlanned(planned.plan);
      setWrong(planned.wrong);
    } catch (error) {
      setSaid(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <form className="stack" onSubmit={review} noValidate>
      <TextField
        label={t('wallet.send.recipient')}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={recipient}
        hint={t('wallet.send.recipient_hint')}
        error={wrong.to ?? null}
        onChange={(event) => onDraft({ ...draft, recipient: event.target.value })}
      />
      <SumField
        data-name="Amount"
        label={t('wallet.send.amount')}
        value={typed}
        sum={sum}
        hint={t('wallet.send.amount_hint', {
          sum: typedUsdc(BigInt(wallet.balance)),
        })}
        error={wrong.sum ?? null}
        onText={(text) => onDraft({ ...draft, typed: text })}
      />
      <ProblemNotice problem={said} />
      <Button type="submit" kind="primary" large busy={busy}>
        {t('wallet.send.review_button')}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </form>
  );
}

function feeOf({ how }: Plan): ReactNode {
  if (how.by === 'service') return t('wallet.send.fee.none');
  if (how.by === 'nobody') return null;
  const most = TRANSFER_GAS_LIMIT * how.truth.maxFeePerGas;
  return t('wallet.send.fee.gas', { coin: readableCoin(most) });
}

/** Returns the reason why the transfer is impossible from here, or `null` if it is possible. */
function lackOf({ how }: Plan): string | null {
  if (how.by === 'service') return null;
  if (how.by === 'nobody') return how.words;
  const most = TRANSFER_GAS_LIMIT * how.truth.maxFeePerGas;
  if (how.truth.coin >= most) return null;
  return t('wallet.send.problem.too_little_gas', {
    has: readableCoin(how.truth.coin),
    needed: readableCoin(most),
  });
}

interface ReviewProps {
  readonly plan: Plan;
  readonly onBack: () => void;
}

/** Shows the transfer once more, with the button that sends it. */
function SendReview({ plan, onBack }: ReviewProps): ReactNode {
  const here = useHere();
  const { vault } = here;
  const opening = useUnlocking(
    vault,
    async (account) => {
      keepSending(here.network, await signSending({ here, account, plan }));
    },
    { always: true },
  );
  const lack = lackOf(plan);
  return (
    <form className="stack" onSubmit={opening.submit} noValidate>
      <Facts
        facts={[
          [t('wallet.send.amount'), <Amount key="amount" atoms={plan.atoms} />],
          [
            t('wallet.send.to'),
            // The address is selectable, because users copy it or compare it letter by letter.
            <code className="id" key="to">
              {inFours(plan.to)}
            </code>,
          ],
          [t('wallet.send.fee.label'), feeOf(plan)],
        ]}
      />
      {lack === null ? (
        <>
          <p className="soft small">{t('wallet.send.compare')}</p>
          <OpenerField
            vault={vault}
            password={opening.password}
            always
            error={opening.wrong}
            onChange={opening.setPassword}
          />
        </>
      ) : (
        <Notice tone="warn" role="alert">
          {lack}
        </Notice>
      )}
      <ProblemNotice problem={opening.problem} />
      {lack === null ? (
        <Button type="submit" kind="primary" large busy={opening.busy}>
          {t('wallet.send.button', { sum: typedUsdc(plan.atoms) })}
        </Button>
      ) : null}
      <Button kind="quiet" onClick={onBack}>
        {t('wallet.send.edit_button')}
      </Button>
    </form>
  );
}

interface UnderWayProps {
  readonly sending: Sending;
  readonly onEnd: (problem: string | null) => void;
  readonly onClose: () => void;
}

/** Shows a transfer that was sent; the user can only wait. */
function UnderWay({ sending, onEnd, onClose }: UnderWayProps): ReactNode {
  const here = useHere();
  const { to, amount } = sending.by === 'service' ? sending.body : sending;
  useEffect(() => {
    const ended = new AbortController();
    void follow({ here, signal: ended.signal, onEnd });
    return () => ended.abort();
  }, [here, onEnd]);
  return (
    <>
      <p role="status">
        <strong>{t('wallet.send.waiting', { sum: typedUsdc(BigInt(amount)) })}</strong>
      </p>
      <p className="soft small">{t('wallet.send.waiting_text', { end: to.slice(-4) })}</p>
      <Button onClick={onClose}>{t('wallet.done')}</Button>
    </>
  );
}

export interface SendSheetProps {
  readonly wallet: Wallet;
  /** The recipient that was scanned, or empty. */
  readonly to: string;
  readonly onClose: () => void;
}

export function SendSheet({ wallet, to, onClose }: SendSheetProps): ReactNode {
  const { network, refresh } = useHere();
  const sending = useKept('sending')[network];
  const toast = useToast();
  // Keeps the first callback, because home re-renders every few seconds while the transfer
  // continues.
  const [close] = useState(() => onClose);
  const [draft, setDraft] = useState<Draft>({ recipient: to, typed: '' });
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const end = useCallback(
    (words: string | null) => {
      keepSending(network, null);
      setPlan(null);
      setProblem(words);
      refresh();
      if (words !== null) return;
      toast(t('wallet.send.done'));
      close();
    },
    [network, refresh, toast, close],
  );
  return (
    <Dialog title={t('wallet.send.heading')} onClose={onClose}>
      {sending !== undefined ? (
        <UnderWay sending={sending} onEnd={end} onClose={onClose} />
      ) : plan === null ? (
        <SendForm
          wallet={wallet}
          draft={draft}
          onDraft={setDraft}
          problem={problem}
          onPlanned={setPlan}
          onClose={onClose}
        />
      ) : (
        <SendReview plan={plan} onBack={() => setPlan(null)} />
      )}
    </Dialog>
  );
}
