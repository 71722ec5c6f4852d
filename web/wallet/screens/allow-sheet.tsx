import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { Wallet } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import { formatTime } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum } from '../../ui/typed-sum.ts';
import {
  isRead,
  PERIODS,
  presentTerms,
  type ReadTerms,
  readTerms,
  type TermField,
  type TermProblems,
  type TypedTerms,
} from '../spending-limits-form.ts';
import { useApproval } from '../use-approval.ts';
import { useHere } from '../wallet-context.tsx';
import { formatRate } from '../wallet-status.ts';
import { ApprovalNotice } from './approval-notice.tsx';
import { OpenerField, openerOf } from './unlock-method.tsx';

const FIELDS: readonly (readonly [TermField, TextKey])[] = [
  ['perPayment', 'wallet.per_payment'],
  ['perDay', 'wallet.allow.per_day'],
  ['total', 'wallet.allow.total'],
];

function inWords({ terms, total }: ReadTerms): string {
  const until = formatTime(new Date(terms.expiresAt * 1000).toISOString(), 'day');
  const each = formatUsdc(terms.perPayment);
  const daily = formatUsdc(terms.perPeriod);
  const fees = formatRate(terms.maxFeeRate);
  return t('wallet.allow.summary', {
    each,
    daily,
    fees,
    sum: formatUsdc(total),
    until,
  });
}

interface TermFieldsProps {
  readonly typed: TypedTerms;
  readonly problems: TermProblems;
  readonly onChange: (typed: TypedTerms) => void;
}

function TermFields({ typed, problems, onChange }: TermFieldsProps): ReactNode {
  return (
    <div className="terms">
      {FIELDS.map(([field, label]) => (
        <SumField
          key={field}
          label={t(label)}
          value={typed[field]}
          sum={readSum(typed[field])}
          error={problems[field] ?? null}
          onText={(text) => onChange({ ...typed, [field]: text })}
        />
      ))}
      <Select
        label={t('wallet.valid_for.label')}
        value={typed.days}
        onChange={(event) => onChange({ ...typed, days: Number(event.target.value) })}
      >
        {PERIODS.map(({ days, words }) => (
          <option key={days} value={days}>
            {t(words)}
          </option>
        ))}
      </Select>
    </div>
  );
}

export interface AllowSheetProps {
  /** Label of the action, with the same verb as the button that opened the sheet. */
  readonly action: string;
  readonly wallet: Wallet;
  readonly onClose: () => void;
}

/** Signs permit and policy together: two signatures, one confirmation, no gas. */
export function AllowSheet({ action, wallet, onClose }: AllowSheetProps): ReactNode {
  const here = useHere();
  const { vault, api, refresh } = here;
  const toast = useToast();
  const [typed, setTyped] = useState<TypedTerms>(() => presentTerms(wallet));
  const [password, setPassword] = useState('');
  const { flow, submit } = useApproval(api);
  const read = readTerms(typed, wallet, api.now());
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isRead(read)) return;
    const opener = openerOf(vault, password);
    void submit(async () => {
      const { signAgreement } = await import('../sign-agreement.ts');
      return signAgreement({ here, opener, agreed: read });
    });
  };
  useEffect(() => {
    if (flow.at !== 'done') return;
    refresh();
    toast(t('wallet.allow.done'));
    onClose();
  }, [flow, refresh, toast, onClose]);
  return (
    <Dialog title={t('wallet.allow.heading')} onClose={onClose}>
      <form className="stack" onSubmit={send} noValidate>
        <TermFields typed={typed} problems={isRead(read) ? {} : read} onChange={setTyped} />
        {isRead(read) ? <p>{inWords(read)}</p> : null}
        <OpenerField vault={vault} password={password} onChange={setPassword} />
        <ApprovalNotice flow={flow} />
        <Button type="submit" kind="primary" large busy={flow.at !== 'editing'}>
          {action}
        </Button>
        <Button kind="quiet" onClick={onClose}>
          {t('wallet.not_now')}
        </Button>
      </form>
    </Dialog>
  );
}
