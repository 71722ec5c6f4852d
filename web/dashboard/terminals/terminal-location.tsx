import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { DashboardTerminal, Location } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, useOpened } from '../../desk/concurrent-change.tsx';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Select } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';

export function TerminalLocation({
  terminal,
}: {
  readonly terminal: DashboardTerminal;
}): ReactNode {
  const { organization = null } = useAccount().data ?? {};
  return organization === null ? null : <OfMine org={organization} terminal={terminal} />;
}

/** Returns the account's locations, if the user may see them. */
export function useOwnLocations(): readonly Location[] {
  const { account } = useMerchant();
  const { organization = null } = useAccount().data ?? {};
  const mine = useRead('GET /organizations').data?.data.find(({ id }) => id === organization);
  const isOpen = mine !== undefined && mine.role !== 'cashier';
  const request = { path: { org: organization ?? '' } };
  const query = useRead('GET /organizations/{org}/locations', request, { enabled: isOpen });
  return (query.data?.data ?? []).filter((one) => one.account === account.id);
}

/** Shows nothing to users without a role in the organization, who may not see its locations. */
function OfMine({ org, terminal }: KnownProps): ReactNode {
  const role = useRead('GET /organizations').data?.data.find(({ id }) => id === org)?.role;
  if (role === undefined || role === 'cashier') return null;
  return <Known org={org} terminal={terminal} />;
}

interface KnownProps {
  readonly org: string;
  readonly terminal: DashboardTerminal;
}

function Known({ org, terminal }: KnownProps): ReactNode {
  const { may, account } = useMerchant();
  const query = useRead('GET /organizations/{org}/locations', { path: { org } });
  const own = (query.data?.data ?? []).filter((one) => one.account === account.id);
  if (own.length === 0) return null;
  const name = own.find(({ id }) => id === terminal.location)?.name;
  return (
    <section className="card stack">
      <h2>{t('dashboard.organization.location.column')}</h2>
      <p>{name === undefined ? t('dashboard.organization.no_location') : named(name)}</p>
      {may('admin') ? (
        <div>
          <DialogButton words={t('dashboard.organization.move')}>
            {(close) => <MoveDialog terminal={terminal} locations={own} onClose={close} />}
          </DialogButton>
        </div>
      ) : null}
    </section>
  );
}

interface MoveDialogProps {
  readonly terminal: DashboardTerminal;
  readonly locations: readonly Location[];
  readonly onClose: () => void;
}

function MoveDialog({ terminal, locations, onClose }: MoveDialogProps): ReactNode {
  const { call } = useMerchant();
  const stored = terminal.location ?? '';
  const [location, setLocation] = useState(stored);
  const { isStale } = useOpened(stored);
  const sending = useSend(['location']);
  const save = async () => {
    const body = { version: terminal.version, location: location === '' ? null : location };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.organization.move.heading')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('dashboard.organization.move')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <Select
        label={t('dashboard.organization.location.column')}
        value={location}
        onChange={(event) => setLocation(event.target.value)}
        hint={t('dashboard.organization.move.text')}
        error={sending.problemAt('location')}
      >
        <option value="">{t('dashboard.organization.no_location')}</option>
        {locations.map(({ id, name }) => (
          <option key={id} value={id}>
            {named(name)}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}
