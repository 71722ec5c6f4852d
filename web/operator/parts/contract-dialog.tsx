import { type ReactNode, useState } from 'react';
import type { ProposeContractChangeBody } from '../../data/types/operator.ts';
import { Form } from '../../desk/form.tsx';
import { type Sending, useSend } from '../../desk/send.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { useOperator } from '../operator.ts';

export type ContractWish = ProposeContractChangeBody['kind'];

const WORDS: Readonly<Record<ContractWish, { title: string; send: string; says: string }>> = {
  pause: {
    title: 'Pause a network?',
    send: 'Pause',
    says: 'The contract settles and refunds nothing. Taps are refused; nothing is lost.',
  },
  unpause: {
    title: 'Let a network go on?',
    send: 'Go on',
    says: 'The contract settles and refunds again. Only its admin can do this.',
  },
  change_rates: {
    title: 'Change what a payment costs?',
    send: 'Change rates',
    says: 'Rates are announced first and come into force after the delay of the contract.',
  },
};

const RATES = ['acquirer', 'protocol', 'cashback'] as const;
const LABELS = { acquirer: 'Acquirer fee', protocol: 'Protocol fee', cashback: 'Cashback' };

type Typed = Readonly<Record<(typeof RATES)[number], string>>;

interface RateFieldsProps {
  readonly rates: Typed;
  readonly onChange: (rates: Typed) => void;
  readonly sending: Sending;
}

function RateFields({ rates, onChange, sending }: RateFieldsProps): ReactNode {
  return RATES.map((name) => (
    <TextField
      key={name}
      label={LABELS[name]}
      inputMode="numeric"
      value={rates[name]}
      onChange={(event) => onChange({ ...rates, [name]: event.target.value })}
      hint="Basis points: 30 are 0.30 %."
      error={sending.problemAt(name)}
    />
  ));
}

export interface ContractDialogProps {
  readonly wish: ContractWish;
  readonly onClose: () => void;
}

/** Asks a colleague to agree. */
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
    const wrong = RATES.find((name) => hasRates && !/^\d{1,3}$/.test(rates[name].trim()));
    if (wrong !== undefined) return sending.refuse(wrong, 'Type a whole number, such as 30.');
    if (reason.trim() === '') return sending.refuse('reason', 'Say why.');
    const { acquirer, protocol, cashback } = rates;
    const numbers = {
      acquirer: Number(acquirer),
      protocol: Number(protocol),
      cashback: Number(cashback),
    };
    const body = {
      ...{ kind: wish, network, reason: reason.trim() },
      ...(hasRates ? { rates: numbers } : {}),
    };
    const made = await sending.send(() => call('POST /proposals', { body }));
    if (made === null) return;
    toast(made.status === 'open' ? 'Asked. A colleague has to agree.' : 'Agreed: you work alone.');
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form sending={sending} onSend={ask} send={send} onCancel={onClose}>
        <p>{says}</p>
        <Select
          label="Network"
          value={network}
          onChange={(event) => setNetwork(event.target.value === 'mainnet' ? 'mainnet' : 'testnet')}
        >
          <option value="testnet">testnet</option>
          <option value="mainnet">mainnet</option>
        </Select>
        {hasRates ? <RateFields rates={rates} onChange={setRates} sending={sending} /> : null}
        <TextField
          label="Reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          hint="For your colleague and the audit log."
          maxLength={500}
          error={sending.problemAt('reason')}
        />
      </Form>
    </Dialog>
  );
}
