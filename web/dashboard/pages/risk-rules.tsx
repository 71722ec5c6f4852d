import { type ReactNode, useState } from 'react';
import type {
  ListBlockedPayersResponse,
  ReadRiskSettingsResponse,
} from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Arrived } from '../../desk/arrived.tsx';
import { Form } from '../../desk/form.tsx';
import { List } from '../../desk/list.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/send.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant, useRead } from '../merchant.ts';
import { RiskPreview, type RulesDraft } from '../parts/risk-preview.tsx';

export function RiskRules(): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/risk_settings');
  const { mode } = useMerchant();
  return (
    <Page title="Risk rules">
      <Arrived>
        <Loaded query={query}>{(rules) => <RulesForm key={mode} rules={rules} />}</Loaded>
        <BlockedWallets />
      </Arrived>
    </Page>
  );
}

function unitsOf(atoms: number | null): bigint | null {
  return atoms === null ? null : BigInt(atoms);
}

function amountText(atoms: number | null): string {
  return atoms === null ? '' : writeSum(BigInt(atoms));
}

/** An amount, null for an empty field, undefined for anything else. */
function amountOf(typed: TypedSum): number | null | undefined {
  if (typed.is === 'empty') return null;
  return typed.is === 'sum' ? Number(typed.units) : undefined;
}

function readCount(typed: string): number | null | undefined {
  if (typed.trim() === '') return null;
  return /^\d{1,6}$/.test(typed.trim()) ? Number(typed.trim()) : undefined;
}

interface Typed {
  readonly first: TypedSum;
  readonly high: TypedSum;
  readonly velocity: string;
}

/** What is typed, as rules; null while a field holds something else. */
function draftOf(typed: Typed): RulesDraft | null {
  const firstFrom = amountOf(typed.first);
  const highFrom = amountOf(typed.high);
  const perHour = readCount(typed.velocity);
  if (firstFrom === undefined || highFrom === undefined || perHour === undefined) return null;
  if (perHour === 0) return null;
  return {
    first_payment_confirm_from: firstFrom,
    high_amount_confirm_from: highFrom,
    velocity_per_hour: perHour,
  };
}

const RULES = ['first_payment_confirm_from', 'high_amount_confirm_from', 'velocity_per_hour'];

function useRules(rules: ReadRiskSettingsResponse) {
  const { call } = useMerchant();
  const toast = useToast();
  const [opened, setOpened] = useState(rules.version);
  const [first, setFirst] = useState(amountText(rules.first_payment_confirm_from));
  const [high, setHigh] = useState(amountText(rules.high_amount_confirm_from));
  const [velocity, setVelocity] = useState(String(rules.velocity_per_hour ?? ''));
  const [before] = useState(rules);
  const sums = {
    first: readSum(first, { wrote: unitsOf(before.first_payment_confirm_from) }),
    high: readSum(high, { wrote: unitsOf(before.high_amount_confirm_from) }),
  };
  const sending = useSend(RULES);
  const isStale = opened !== rules.version;
  const stored = (is: string, typed: string) => storedNow({ isStale, stored: is, typed });
  const save = async () => {
    const firstFrom = amountOf(sums.first);
    const highFrom = amountOf(sums.high);
    const perHour = readCount(velocity);
    const wrong = 'Enter an amount such as 50.00, or leave it empty.';
    if (firstFrom === undefined) return sending.refuse('first_payment_confirm_from', wrong);
    if (highFrom === undefined) return sending.refuse('high_amount_confirm_from', wrong);
    if (perHour === undefined) return sending.refuse('velocity_per_hour', 'Enter a number.');
    const body = {
      version: rules.version,
      first_payment_confirm_from: firstFrom,
      high_amount_confirm_from: highFrom,
      velocity_per_hour: perHour,
    };
    const saved = await sending.send(() =>
      call('PUT /accounts/{account}/{mode}/risk_settings', { body }),
    );
    if (saved === null) return;
    setOpened(saved.version);
    toast('Saved.');
  };
  return {
    draft: draftOf({ ...sums, velocity }),
    fields: {
      first: { value: first, sum: sums.first, onText: setFirst, shows: true },
      high: { value: high, sum: sums.high, onText: setHigh, shows: true },
    },
    ...{ first, high, velocity, setVelocity },
    ...{ sending, isStale, stored, save },
  };
}

function RulesForm({ rules }: { readonly rules: ReadRiskSettingsResponse }): ReactNode {
  const { may } = useMerchant();
  const form = useRules(rules);
  const { first, high, velocity, sending, isStale, stored } = form;
  const field = { readOnly: !may('admin') };
  const fields = (
    <>
      <ChangedMeanwhile isStale={isStale} />
      <SumField
        {...field}
        label="Ask new customers from"
        {...form.fields.first}
        hint={
          stored(amountText(rules.first_payment_confirm_from), first) ??
          'In USDC. New customers confirm a first payment from this sum. Leave empty to never ask.'
        }
        error={sending.problemAt('first_payment_confirm_from')}
      />
      <SumField
        {...field}
        label="Ask every customer from"
        {...form.fields.high}
        hint={
          stored(amountText(rules.high_amount_confirm_from), high) ??
          'In USDC. Every customer confirms payments from this sum. Leave empty to never ask.'
        }
        error={sending.problemAt('high_amount_confirm_from')}
      />
      <TextField
        {...field}
        label="Payments per customer per hour, at most"
        inputMode="numeric"
        value={velocity}
        onChange={(event) => form.setVelocity(event.target.value)}
        hint={
          stored(String(rules.velocity_per_hour ?? ''), velocity) ??
          'Further payments are declined. Leave empty for no limit.'
        }
        error={sending.problemAt('velocity_per_hour')}
      />
      {form.draft === null ? null : <RiskPreview draft={form.draft} />}
    </>
  );
  return (
    <section className="card stack">
      <h2>When a payment is stopped, or the customer has to confirm</h2>
      {may('admin') ? (
        <Form sending={sending} onSend={form.save} send="Save">
          {fields}
        </Form>
      ) : (
        fields
      )}
    </section>
  );
}

type Blocked = ListBlockedPayersResponse['data'][number];

function Unblock({ address }: Blocked): ReactNode {
  const { call, may } = useMerchant();
  if (!may('admin')) return null;
  return (
    <ActionButton
      request={() =>
        call('DELETE /accounts/{account}/{mode}/blocked_payers/{address}', { path: { address } })
      }
    >
      Unblock
    </ActionButton>
  );
}

const COLUMNS: readonly Column<Blocked>[] = [
  { name: 'Wallet', cell: ({ address }) => <span className="id">{address}</span> },
  { name: 'Reason', cell: ({ note }) => note },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
  { name: 'Change', cell: (row) => <Unblock {...row} /> },
];

/** Wallets that this account sells nothing to. */
function BlockedWallets(): ReactNode {
  const { call, may } = useMerchant();
  const query = useRead('GET /accounts/{account}/{mode}/blocked_payers');
  const [address, setAddress] = useState('');
  const [note, setNote] = useState('');
  const sending = useSend(['address', 'note']);
  const block = async () => {
    if (address.trim() === '') return sending.refuse('address', 'Enter the address of the wallet.');
    const body = { address: address.trim(), ...(note.trim() === '' ? {} : { note: note.trim() }) };
    const done = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/blocked_payers', { body }),
    );
    if (done !== null) setAddress('');
  };
  return (
    <section className="card stack">
      <h2>Blocked wallets</h2>
      <List
        label="Blocked wallets"
        query={query}
        columns={COLUMNS}
        keyOf={(row) => row.address}
        empty={<p className="soft">No wallet is blocked.</p>}
      />
      {may('admin') ? (
        <Form sending={sending} onSend={block} send="Block">
          <TextField
            label="Wallet address"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
            hint="It is shown on each payment’s page."
            error={sending.problemAt('address')}
          />
          <TextField
            label="Reason"
            value={note}
            onChange={(event) => setNote(event.target.value)}
            hint="For your team."
            error={sending.problemAt('note')}
          />
        </Form>
      ) : null}
    </section>
  );
}
