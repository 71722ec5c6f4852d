import { type ReactNode, useState } from 'react';
import { CURRENCIES } from '#core/currencies.ts';
import { named } from '#i18n/bidi-isolates.ts';
import type { Location, Organization } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { rateText, readPercent } from '../../ui/percent.ts';
import type { Column } from '../../ui/table.tsx';
import { currencyName } from '../../ui/text/currency-name.ts';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { ZoneSelect } from '../account/zone-select.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

interface LocationsProps {
  readonly organization: Organization;
  readonly canChange: boolean;
}

/** Returns the account column, or no column if the organization has only one account. */
export function accountColumn(
  accounts: Organization['accounts'],
): readonly Column<{ readonly account: string | null }>[] {
  if (accounts.length < 2) return [];
  const nameOf = (id: string | null) => accounts.find((one) => one.id === id)?.name;
  return [{ name: t('dashboard.account'), cell: ({ account }) => given(nameOf(account)) }];
}

/** A new location belongs to the current account. */
export function Locations({ organization, canChange }: LocationsProps): ReactNode {
  const { id, accounts } = organization;
  const [edited, setEdited] = useState<Location | 'new' | null>(null);
  const query = useRead('GET /organizations/{org}/locations', { path: { org: id } });
  const terminals = useRead('GET /accounts/{account}/{mode}/terminals', {
    query: { limit: MOST_TERMINALS },
  }).data?.data;
  // The dialog shows the current location, because a colleague may have changed it since the click.
  const current = (location: Location) =>
    query.data?.data.find((one) => one.id === location.id) ?? location;
  const columns: readonly Column<Location>[] = [
    { name: t('dashboard.organization.location.column'), cell: ({ name }) => given(name) },
    ...accountColumn(accounts),
    { name: t('dashboard.organization.address'), cell: ({ address }) => given(address ?? '') },
    { name: t('dashboard.organization.time_zone'), cell: ({ time_zone }) => given(time_zone) },
    {
      name: t('dashboard.organization.currency'),
      cell: ({ currency }) => given(currency?.toUpperCase() ?? ''),
    },
    {
      name: t('dashboard.organization.tax_rates'),
      cell: ({ tax_rates }) => given(writeRates(tax_rates)),
    },
    {
      name: t('dashboard.organization.terminals'),
      cell: ({ id: location }) => given(labelsAt(terminals, location)),
    },
    {
      name: t('dashboard.team.change.column'),
      cell: (location) => (
        <Button onClick={() => setEdited(location)}>{t('dashboard.organization.edit')}</Button>
      ),
    },
  ];
  return (
    <section className="stack">
      <List
        label={t('dashboard.organization.locations.heading')}
        query={query}
        columns={canChange ? columns : columns.slice(0, -1)}
        keyOf={(location) => location.id}
        empty={<p className="soft">{t('dashboard.organization.locations.empty')}</p>}
      />
      {canChange ? (
        <div>
          <Button data-name="Add location" onClick={() => setEdited('new')}>
            {t('dashboard.organization.add')}
          </Button>
        </div>
      ) : null}
      {edited === null ? null : (
        <LocationDialog
          org={id}
          location={edited === 'new' ? null : current(edited)}
          onClose={() => setEdited(null)}
        />
      )}
    </section>
  );
}

interface LocationDialogProps {
  /** `null` if the account has no organization yet: the first location makes one. */
  readonly org: string | null;
  /** The location to change; `null` for a new one. */
  readonly location: Location | null;
  readonly onClose: () => void;
}

/**
 * Returns a function that stores the typed values: as a new location of the current account, or as
 * a change of `location`.
 */
function useRequest(known: string | null, location: Location | null) {
  const { call, account } = useMerchant();
  const [made, setMade] = useState(known);
  /** Makes an organization with the account's name, once, and puts the account into it. */
  const makeOrganization = async () => {
    const created = await call('POST /organizations', { body: { name: account.name } });
    if (created.is !== 'done') return created;
    const body = { organization: created.value.id };
    const moved = await call('PUT /accounts/{account}/organization', { body });
    if (moved.is === 'done') setMade(created.value.id);
    return moved.is === 'done' ? created : moved;
  };
  return async (typed: Fields, tax_rates: Location['tax_rates']) => {
    const organization = made === null ? await makeOrganization() : null;
    if (organization !== null && organization.is !== 'done') return organization;
    const org = organization === null ? (made ?? '') : organization.value.id;
    const [address, zone] = [typed.address.trim(), typed.time_zone];
    const body = {
      ...{ name: typed.name.trim(), address: address === '' ? null : address },
      ...{ currency: typed.currency === '' ? null : typed.currency, tax_rates },
    };
    if (location === null) {
      return call('POST /organizations/{org}/locations', {
        path: { org },
        body: { account: account.id, ...body, ...(zone === '' ? {} : { time_zone: zone }) },
      });
    }
    return call('PATCH /organizations/{org}/locations/{id}', {
      path: { org, id: location.id },
      body: { version: location.version, ...body, time_zone: zone },
    });
  };
}

interface Fields {
  readonly name: string;
  readonly address: string;
  readonly time_zone: string;
  /** Empty for the account's. */
  readonly currency: string;
  /** Empty for the account's. */
  readonly tax_rates: string;
}

/** Terminals whose location is shown; an account with more has a list of its own. */
const MOST_TERMINALS = 100;

function labelsAt(
  terminals: readonly { readonly label: string; readonly location: string | null }[] = [],
  location: string,
): string {
  return terminals.flatMap((one) => (one.location === location ? [one.label] : [])).join(', ');
}

function writeRates(rates: Location['tax_rates']): string {
  return (rates ?? []).map(({ name, rate }) => `${name} ${rateText(rate)}`).join('; ');
}

/** Returns `null` for the account's rates, and undefined for a text that has no rates. */
function readRates(text: string): Location['tax_rates'] | undefined {
  if (text.trim() === '') return null;
  const rates = text.split(';').map((part) => {
    const [, name = '', percent = ''] = /^(.*\S)\s+(\d[\d.,٫]*\s*[%٪]?)$/.exec(part.trim()) ?? [];
    return { name, rate: readPercent(percent.replace(/[%٪\s]/g, '')) };
  });
  const read = rates.flatMap(({ name, rate }) => (rate === null ? [] : [{ name, rate }]));
  return read.length === rates.length ? read : undefined;
}

function CurrencyOptions(): ReactNode {
  return (
    <>
      <option value="">{t('dashboard.organization.currency.account')}</option>
      {CURRENCIES.map((currency) => (
        <option key={currency} value={currency}>
          {named(currencyName(currency))}
        </option>
      ))}
    </>
  );
}

/** Returns the words of the dialog, and the name by which scripts find it. */
function wayOf(location: LocationDialogProps['location'], account: string) {
  return location === null
    ? {
        title: t('dashboard.organization.add.heading', { account }),
        send: t('dashboard.organization.add'),
        'data-name': 'Add location',
      }
    : {
        title: t('dashboard.organization.edit.heading', { name: location.name }),
        send: t('desk.button.save'),
      };
}

export function LocationDialog({ org, location, onClose }: LocationDialogProps): ReactNode {
  const { account } = useMerchant();
  const stored: Fields = {
    name: location?.name ?? '',
    address: location?.address ?? '',
    time_zone: location?.time_zone ?? '',
    currency: location?.currency ?? '',
    tax_rates: writeRates(location?.tax_rates ?? null),
  };
  const { isStale } = useOpened(stored);
  const { texts, sending, set, field } = useTextForm(stored);
  const request = useRequest(org, location);
  const save = async () => {
    const rates = readRates(texts.tax_rates);
    if (rates === undefined) {
      return sending.refuse('tax_rates', t('dashboard.organization.tax_rates.hint'));
    }
    const saved = await sending.send(() => request(texts, rates));
    if (saved !== null) onClose();
  };
  const nowOf = (name: keyof Fields) =>
    storedNow({ isStale, stored: stored[name], typed: texts[name] }) ?? undefined;
  return (
    <FormDialog {...wayOf(location, account.name)} {...{ onClose, sending, onSend: save }}>
      <ChangedMeanwhile isStale={isStale} />
      <TextField label={t('desk.field.name')} {...field('name')} hint={nowOf('name')} />
      <TextField
        label={t('dashboard.organization.address')}
        {...field('address')}
        hint={nowOf('address')}
      />
      <ZoneSelect
        value={texts.time_zone}
        {...(location === null ? { none: t('dashboard.organization.currency.account') } : {})}
        onZone={(time_zone) => set({ time_zone })}
        hint={nowOf('time_zone')}
        error={sending.problemAt('time_zone')}
      />
      <Select
        label={t('dashboard.organization.currency')}
        value={texts.currency}
        onChange={({ target }) => set({ currency: target.value })}
        hint={nowOf('currency')}
        error={sending.problemAt('currency')}
      >
        <CurrencyOptions />
      </Select>
      <TextField
        label={t('dashboard.organization.tax_rates')}
        {...field('tax_rates')}
        hint={nowOf('tax_rates') ?? t('dashboard.organization.tax_rates.hint')}
      />
    </FormDialog>
  );
}
