import { type ReactNode, useState } from 'react';
import type {
  ListBlockedPayersResponse,
  ReadRiskSettingsResponse,
} from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { List } from '../../desk/short-list.tsx';
import { useSend } from '../../desk/use-send.ts';
import { useTextForm } from '../../desk/use-text-form.ts';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readWhole } from '../../ui/whole-number.ts';
import { type StoredLimit, useLimitField } from '../account/limit-field.tsx';
import { RiskPreview, type RulesDraft } from '../account/risk-preview.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

export function RiskRules(): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/risk_settings');
  const { mode } = useMerchant();
  return (
    <Page title={t('dashboard.page.risk_rules')}>
      <LoadTogether>
        <Loaded query={query}>{(rules) => <RulesForm key={mode} rules={rules} />}</Loaded>
        <BlockedWallets />
      </LoadTogether>
    </Page>
  );
}

type LimitName = 'first_payment_confirm_from' | 'high_amount_confirm_from';

function limitOf(rules: ReadRiskSettingsResponse, name: LimitName): StoredLimit {
  return { atoms: rules[name], presentment: rules[`${name}_presentment`] };
}

function readCount(typed: string): number | null | undefined {
  return typed.trim() === '' ? null : (readWhole(typed) ?? undefined);
}

interface Typed {
  readonly first: ReturnType<typeof useLimitField>;
  readonly high: ReturnType<typeof useLimitField>;
  readonly velocity: string;
}

/** Returns the typed rules in atoms, or `null` if a field is invalid or a rate is missing. */
function draftOf({ first, high, velocity }: Typed): RulesDraft | null {
  const perHour = readCount(velocity);
  const isUnread = [first, high].some(({ input, atoms }) => {
    return input === undefined || (input !== null && atoms === null);
  });
  if (isUnread || perHour === undefined || perHour === 0) return null;
  return {
    first_payment_confirm_from: first.atoms,
    high_amount_confirm_from: high.atoms,
    velocity_per_hour: perHour,
  };
}

const RULES = ['first_payment_confirm_from', 'high_amount_confirm_from', 'velocity_per_hour'];

function useRules(rules: ReadRiskSettingsResponse) {
  const { call } = useMerchant();
  const toast = useToast();
  const [opened, setOpened] = useState(rules.version);
  const first = useLimitField(limitOf(rules, 'first_payment_confirm_from'));
  const high = useLimitField(limitOf(rules, 'high_amount_confirm_from'));
  const [velocity, setVelocity] = useState(String(rules.velocity_per_hour ?? ''));
  const sending = useSend(RULES);
  const isStale = opened !== rules.version;
  const stored = (is: string, typed: string) => storedNow({ isStale, stored: is, typed });
  const save = async () => {
    const perHour = readCount(velocity);
    const wrong = t('dashboard.risk_rules.sum_invalid');
    if (first.input === undefined) return sending.refuse('first_payment_confirm_from', wrong);
    if (high.input === undefined) return sending.refuse('high_amount_confirm_from', wrong);
    if (perHour === undefined)
      return sending.refuse('velocity_per_hour', t('dashboard.risk_rules.number_invalid'));
    const body = {
      version: rules.version,
      first_payment_confirm_from: first.input,
      high_amount_confirm_from: high.input,
      velocity_per_hour: perHour,
    };
    const saved = await sending.send(() =>
      call('PUT /accounts/{account}/{mode}/risk_settings', { body }),
    );
    if (saved === null) return;
    setOpened(saved.version);
    toast(t('dashboard.settings.saved'));
  };
  return {
    draft: draftOf({ first, high, velocity }),
    ...{ first, high, velocity, setVelocity },
    ...{ sending, isStale, stored, save },
  };
}

function RulesForm({ rules }: { readonly rules: ReadRiskSettingsResponse }): ReactNode {
  const { may } = useMerchant();
  const form = useRules(rules);
  const { first, high, velocity, sending, isStale, stored } = form;
  const isReadOnly = !may('admin');
  const storedLimit = (name: LimitName, { field, textOf }: typeof first) =>
    stored(textOf(limitOf(rules, name)), field.value);
  const fields = (
    <>
      <ChangedMeanwhile isStale={isStale} />
      <SumField
        label={t('dashboard.risk_rules.new_customers.label')}
        {...first.field}
        readOnly={isReadOnly || first.field.readOnly}
        hint={
          storedLimit('first_payment_confirm_from', first) ??
          t('dashboard.risk_rules.new_customers.hint')
        }
        error={sending.problemAt('first_payment_confirm_from')}
      />
      <SumField
        label={t('dashboard.risk_rules.every_customer.label')}
        {...high.field}
        readOnly={isReadOnly || high.field.readOnly}
        hint={
          storedLimit('high_amount_confirm_from', high) ??
          t('dashboard.risk_rules.every_customer.hint')
        }
        error={sending.problemAt('high_amount_confirm_from')}
      />
      <TextField
        readOnly={isReadOnly}
        label={t('dashboard.risk_rules.hourly.label')}
        inputMode="numeric"
        value={velocity}
        onChange={(event) => form.setVelocity(event.target.value)}
        hint={
          stored(String(rules.velocity_per_hour ?? ''), velocity) ??
          t('dashboard.risk_rules.hourly.hint')
        }
        error={sending.problemAt('velocity_per_hour')}
      />
      {form.draft === null ? null : <RiskPreview draft={form.draft} />}
    </>
  );
  return (
    <section className="card stack">
      <h2>{t('dashboard.risk_rules.heading')}</h2>
      {may('admin') ? (
        <Form sending={sending} onSend={form.save} send={t('desk.button.save')}>
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
      {t('dashboard.risk_rules.unblock.button')}
    </ActionButton>
  );
}

const columns = (): readonly Column<Blocked>[] => [
  {
    name: t('dashboard.field.wallet'),
    cell: ({ address }) => <span className="id">{address}</span>,
  },
  { name: t('dashboard.field.reason'), cell: ({ note }) => given(note) },
  { name: t('dashboard.risk_rules.since.column'), cell: ({ created }) => <Time at={created} /> },
  { name: t('dashboard.button.change'), cell: (row) => <Unblock {...row} /> },
];

/** Wallets that this account refuses. */
function BlockedWallets(): ReactNode {
  const { call, may } = useMerchant();
  const query = useRead('GET /accounts/{account}/{mode}/blocked_payers');
  const { texts, sending, field, set } = useTextForm({ address: '', note: '' });
  const block = async () => {
    const [address, note] = [texts.address.trim(), texts.note.trim()];
    if (address === '')
      return sending.refuse('address', t('dashboard.risk_rules.blocked.address_missing'));
    const body = { address, ...(note === '' ? {} : { note }) };
    const done = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/blocked_payers', { body }),
    );
    if (done !== null) set({ address: '' });
  };
  return (
    <section className="card stack">
      <h2>{t('dashboard.risk_rules.blocked_wallets.heading')}</h2>
      <List
        label={t('dashboard.risk_rules.blocked_wallets.label')}
        query={query}
        columns={columns()}
        keyOf={(row) => row.address}
        empty={<p className="soft">{t('dashboard.risk_rules.blocked.empty')}</p>}
      />
      {may('admin') ? (
        <Form sending={sending} onSend={block} send={t('dashboard.risk_rules.block.button')}>
          <TextField
            label={t('dashboard.field.wallet_address')}
            hint={t('dashboard.risk_rules.blocked.address_hint')}
            {...field('address')}
          />
          <TextField
            label={t('dashboard.field.reason')}
            hint={t('dashboard.risk_rules.blocked.reason_hint')}
            {...field('note')}
          />
        </Form>
      ) : null}
    </section>
  );
}
