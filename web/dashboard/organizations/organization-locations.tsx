import { type ReactNode, useState } from 'react';
import type { Location, Organization } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
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
  // The dialog shows the current location, because a colleague may have changed it since the click.
  const current = (location: Location) =>
    query.data?.data.find((one) => one.id === location.id) ?? location;
  const columns: readonly Column<Location>[] = [
    { name: t('dashboard.organization.location.column'), cell: ({ name }) => given(name) },
    ...accountColumn(accounts),
    { name: t('dashboard.organization.address'), cell: ({ address }) => given(address ?? '') },
    { name: t('dashboard.organization.time_zone'), cell: ({ time_zone }) => given(time_zone) },
    {
      name: t('dashboard.team.change.column'),
      cell: (location) => (
        <Button onClick={() => setEdited(location)}>{t('dashboard.organization.edit')}</Button>
      ),
    },
  ];
  return (
    <section className="stack">
      <h2>{t('dashboard.organization.locations.heading')}</h2>
      <List
        label={t('dashboard.organization.locations.heading')}
        query={query}
        columns={canChange ? columns : columns.slice(0, -1)}
        keyOf={(location) => location.id}
        empty={<p className="soft">{t('dashboard.organization.locations.empty')}</p>}
      />
      {canChange ? (
        <div>
          <Button onClick={() => setEdited('new')}>{t('dashboard.organization.add')}</Button>
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
  readonly org: string;
  /** The location to change; `null` for a new one. */
  readonly location: Location | null;
  readonly onClose: () => void;
}

/**
 * Returns a function that stores the typed values: as a new location of the current account, or as
 * a change of `location`.
 */
function useRequest(org: string, location: Location | null) {
  const { call, account } = useMerchant();
  return (typed: Fields) => {
    const [address, zone] = [typed.address.trim(), typed.time_zone.trim()];
    const body = { name: typed.name.trim(), address: address === '' ? null : address };
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
}

function LocationDialog({ org, location, onClose }: LocationDialogProps): ReactNode {
  const { account } = useMerchant();
  const stored: Fields = {
    name: location?.name ?? '',
    address: location?.address ?? '',
    time_zone: location?.time_zone ?? '',
  };
  const { isStale } = useOpened(stored);
  const { texts, sending, field } = useTextForm(stored);
  const request = useRequest(org, location);
  const save = async () => {
    const saved = await sending.send(() => request(texts));
    if (saved !== null) onClose();
  };
  const nowOf = (name: keyof Fields) =>
    storedNow({ isStale, stored: stored[name], typed: texts[name] }) ?? undefined;
  const heading =
    location === null
      ? t('dashboard.organization.add.heading', { account: account.name })
      : t('dashboard.organization.edit.heading', { name: stored.name });
  const send = location === null ? t('dashboard.organization.add') : t('desk.button.save');
  return (
    <FormDialog title={heading} onClose={onClose} sending={sending} onSend={save} send={send}>
      <ChangedMeanwhile isStale={isStale} />
      <TextField label={t('desk.field.name')} {...field('name')} hint={nowOf('name')} />
      <TextField
        label={t('dashboard.organization.address')}
        {...field('address')}
        hint={nowOf('address')}
      />
      <TextField
        label={t('dashboard.organization.time_zone')}
        {...field('time_zone')}
        hint={location === null ? t('dashboard.organization.time_zone.hint') : nowOf('time_zone')}
      />
    </FormDialog>
  );
}
