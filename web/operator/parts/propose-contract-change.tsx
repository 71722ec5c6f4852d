import { type ReactNode, useState } from 'react';
import type { ProposeContractChangeBody } from '../../data/types/operator.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { type Sending, useSend } from '../../desk/use-send.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { readPercent } from '../../ui/percent.ts';
import { useToast } from '../../ui/toast.tsx';
import { useOperator, useRead } from '../use-operator.ts';
import { percent } from './fee-percent.ts';
import { ReasonField } from './reason-field.tsx';

export type ContractWish = ProposeContractChangeBody['kind'];

const WORDS: Readonly<Record<ContractWish, { title: string; send: string; says: string }>> = {
  pause: {
    title: 'Pause a network?',
    send: 'Pause',
    says: 'The contract stops settling and refunding. Taps are refused; nothing is lost.',
  },
  unpause: {
    title: 'Resume a network?',
    send: 'Resume',
    says: 'The contract settles and refunds again. Only its steward can do this.',
  },
  change_rates: {
    title: 'Change the rates?',
    send: 'Change rates',
    says: 'A proposer schedules the rates; they take effect after the timelock’s delay.',
  },
};

const RATES = ['acquirer', 'protocol', 'cashback'] as const;
const LABELS = { acquirer: 'Acquirer fee', protocol: 'Protocol fee', cashback: 'Cashback' };

type RateName = (typeof RATES)[number];
type Typed = Readonly<Record<RateName, string>>;

interface RateFieldsProps {
  readonly network: string;
  readonly rates: Typed;
  readonly onChange: (rates: Typed) => void;
  readonly sending: Sending;
}

function RateFields({ network, rates, onChange, sending }: RateFieldsProps): ReactNode {
  const contracts = useRead('GET /contracts').data?.data ?? [];
  const now = contracts.find((contract) => contract.network === network)?.rates ?? null;
  return RATES.map((name) => (
    <TextField
      key={name}
      label={LABELS[name]}
      inputMode="decimal"
      value={rates[name]}
      onChange={(event) => onChange({ ...rates, [name]: event.target.value })}
      hint={now === null ? 'In percent.' : `In percent. Now ${percent(now[name])}.`}
      error={sending.problemAt(name)}
    />
  ));
}

export interface ContractDialogProps {
  readonly wish: ContractWish;
  readonly onClose: () => void;
}

export function ContractDialog({ wish, onClose }: ContractDialogProps): ReactNode {
  const { call } = useOperator();
  const [network, setNetwork] = useState<'testnet' | 'mainnet'>('testnet');
  const [rates, setRates] = useState<Typed>({ acquirer: '', protocol: '', cashback: '' });
  const [reason, setReason] = useState('');
  const sending = useSend(['reason', ...RATES]);
  const toast = useToast();
  const { title, send, says } = WORDS[wish];
  const hasRates = wish === 'change_rates';
  const ask = async () => {
    const wrong = RATES.find((name) => hasRates && readPercent(rates[name]) === null);
    if (wrong !== undefined) return sending.refuse(wrong, 'Enter a percentage, such as 0.30.');
    if (reason.trim() === '') return sending.refuse('reason', 'Enter a reason.');
    const read = RATES.map((name) => [name, readPercent(rates[name]) ?? 0] as const);
    const basisPoints = Object.fromEntries(read) as Record<RateName, number>;
    const body = {
      ...{ kind: wish, network, reason: reason.trim() },
      ...(hasRates ? { rates: basisPoints } : {}),
    };
    const made = await sending.send(() => call('POST /proposals', { body }));
    if (made === null) return;
    const isOpen = made.status === 'open';
    toast(isOpen ? 'Sent. A colleague has to approve it.' : 'Approved: you work alone.');
    onClose();
  };
  return (
    <FormDialog title={title} onClose={onClose} sending={sending} onSend={ask} send={send}>
      <p>{says}</p>
      <Select
        label="Network"
        value={network}
        onChange={(event) => setNetwork(event.target.value === 'mainnet' ? 'mainnet' : 'testnet')}
      >
        <option value="testnet">testnet</option>
        <option value="mainnet">mainnet</option>
      </Select>
      {hasRates ? (
        <RateFields network={network} rates={rates} onChange={setRates} sending={sending} />
      ) : null}
      <ReasonField
        value={reason}
        onText={setReason}
        hint="For your colleague and the audit log."
        sending={sending}
      />
    </FormDialog>
  );
}
