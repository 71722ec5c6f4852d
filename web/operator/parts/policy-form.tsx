import { type ReactNode, useState } from 'react';
import type { ReadPolicyDefaultsResponse } from '../../data/types/operator.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { TextField } from '../../ui/field.tsx';
import { readPercent } from '../../ui/percent.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { readWhole } from '../../ui/whole-number.ts';
import { useOperator, useRead } from '../use-operator.ts';

type Defaults = ReadPolicyDefaultsResponse;
type Field = Exclude<keyof Defaults, 'version'>;
type Mode = 'test' | 'live';

const HOUR_S = 3_600;
/** The largest values that the service accepts. */
const MOST = { hours: 720, days: 3_650, basisPoints: 300 };

interface FieldOf {
  readonly name: Field;
  readonly label: string;
  readonly hint: string;
  readonly show: (value: number) => string;
  /** Parses the typed value. @returns `null` if it is invalid. */
  readonly read: (typed: string) => number | null;
  readonly wrong: string;
  readonly isSum?: boolean;
}

function readCount(typed: string, { from, to }: { readonly from: number; readonly to: number }) {
  const count = readWhole(typed);
  return count !== null && count >= from && count <= to ? count : null;
}

function readAmount(typed: string): number | null {
  const atoms = sumIn(readSum(typed));
  return atoms === null ? null : Number(atoms);
}

const showAmount = (atoms: number) => writeSum(BigInt(atoms));

const FIELDS: readonly FieldOf[] = [
  {
    name: 'per_payment',
    label: 'Limit per payment',
    hint: 'In USDC.',
    show: showAmount,
    read: readAmount,
    wrong: 'Enter an amount such as 20.50.',
    isSum: true,
  },
  {
    name: 'per_period',
    label: 'Limit per period',
    hint: 'In USDC, no less than the limit per payment.',
    show: showAmount,
    read: readAmount,
    wrong: 'Enter an amount such as 20.50.',
    isSum: true,
  },
  {
    name: 'period_seconds',
    label: 'Hours per period',
    hint: '1 to 720; 24 is a day.',
    show: (seconds) => String(seconds / HOUR_S),
    read: (typed) => {
      const hours = readCount(typed, { from: 1, to: MOST.hours });
      return hours === null ? null : hours * HOUR_S;
    },
    wrong: 'Enter whole hours, 1 to 720.',
  },
  {
    name: 'valid_days',
    label: 'Valid for (days)',
    hint: '1 to 3,650.',
    show: String,
    read: (typed) => readCount(typed, { from: 1, to: MOST.days }),
    wrong: 'Enter whole days, 1 to 3,650.',
  },
  {
    name: 'max_fee_rate',
    label: 'Highest fee that payers accept',
    hint: 'In percent, 0 to 3.00.',
    show: (basisPoints) => (basisPoints / 100).toFixed(2),
    read: (typed) => {
      const basisPoints = readPercent(typed);
      return basisPoints === null || basisPoints > MOST.basisPoints ? null : basisPoints;
    },
    wrong: 'Enter a percentage, 0 to 3.00.',
  },
];

/** Edits the limits that the wallet app proposes, per network. Signed policies do not change. */
export function PolicyForms(): ReactNode {
  return (
    <>
      <h2>Limits that wallets propose</h2>
      <p className="soft">
        Customers sign once how much may be taken. These are the limits that the wallet app
        proposes; signed limits do not change.
      </p>
      <div className="columns">
        <PolicyCard mode="test" />
        <PolicyCard mode="live" />
      </div>
    </>
  );
}

function PolicyCard({ mode }: { readonly mode: Mode }): ReactNode {
  const query = useRead('GET /spending_policy_defaults/{mode}', { path: { mode } });
  return (
    <section className="card stack">
      <h3>{mode === 'test' ? 'testnet' : 'mainnet'}</h3>
      <Loaded query={query}>{(defaults) => <PolicyForm mode={mode} defaults={defaults} />}</Loaded>
    </section>
  );
}

interface PolicyFormProps {
  readonly mode: Mode;
  readonly defaults: Defaults;
}

function textsOf(defaults: Defaults): Record<Field, string> {
  const texts = FIELDS.map(({ name, show }) => [name, show(defaults[name])]);
  return Object.fromEntries(texts) as Record<Field, string>;
}

function PolicyForm({ mode, defaults }: PolicyFormProps): ReactNode {
  const { call, mayChange } = useOperator();
  const [typed, setTyped] = useState(() => textsOf(defaults));
  const [opened, setOpened] = useState(defaults.version);
  const sending = useSend(FIELDS.map(({ name }) => name));
  const toast = useToast();
  const isStale = opened !== defaults.version;
  const save = async () => {
    const wrong = FIELDS.find(({ name, read }) => read(typed[name]) === null);
    if (wrong !== undefined) return sending.refuse(wrong.name, wrong.wrong);
    const read = FIELDS.map(({ name, read: readIt }) => [name, readIt(typed[name])] as const);
    const values = Object.fromEntries(read) as Record<Field, number>;
    if (values.per_period < values.per_payment) {
      return sending.refuse('per_period', 'Enter no less than the limit per payment.');
    }
    const body = { ...values, version: defaults.version };
    const saved = await sending.send(() =>
      call('PUT /spending_policy_defaults/{mode}', { path: { mode }, body }),
    );
    if (saved === null) return;
    setOpened(saved.version);
    toast('Saved.');
  };
  const fields = FIELDS.map(({ name, label, hint, show, isSum }) => {
    const value = typed[name];
    const field = {
      label,
      value,
      readOnly: !mayChange,
      hint: storedNow({ isStale, stored: show(defaults[name]), typed: value }) ?? hint,
      error: sending.problemAt(name),
    };
    const onText = (text: string) => setTyped({ ...typed, [name]: text });
    return isSum === true ? (
      <SumField key={name} {...field} sum={readSum(value)} shows onText={onText} />
    ) : (
      <TextField
        key={name}
        {...field}
        inputMode="decimal"
        onChange={(event) => onText(event.target.value)}
      />
    );
  });
  if (!mayChange) return <div className="stack">{fields}</div>;
  return (
    <Form
      sending={sending}
      onSend={save}
      send={`Save for ${mode === 'test' ? 'testnet' : 'mainnet'}`}
    >
      <ChangedMeanwhile isStale={isStale} />
      {fields}
    </Form>
  );
}
