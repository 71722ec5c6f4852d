import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { Organization as OrganizationObject } from '../../data/types/dashboard.ts';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { useDesk } from '../../desk/desk-context.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';
import { LocationDialog, Locations } from './organization-locations.tsx';
import { OrganizationPeople } from './organization-people.tsx';
import { OrganizationSales } from './organization-sales.tsx';

export function Organization(): ReactNode {
  const account = useAccount();
  const mine = useRead('GET /organizations');
  return (
    <Loaded query={account}>
      {({ organization }) => (
        <Loaded query={mine}>
          {({ data }) => {
            const own = data.find(({ id }) => id === organization);
            if (own !== undefined) return <Own organization={own} />;
            return organization === null ? <Choice organizations={data} /> : <Closed />;
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

/** Shown if the account belongs to an organization in which the user has no role. */
function Closed(): ReactNode {
  return <p className="soft">{t('dashboard.organization.closed')}</p>;
}

function Choice(props: { readonly organizations: readonly OrganizationObject[] }): ReactNode {
  const { call, may, account } = useMerchant();
  const [isCreating, setIsCreating] = useState(false);
  const [isAdding, setIsAdding] = useState(false);
  if (!may('owner')) return <p className="soft">{t('dashboard.organization.locations.empty')}</p>;
  const own = props.organizations.filter(({ role }) => role === 'owner');
  return (
    <>
      <p className="soft">{t('dashboard.organization.locations.empty')}</p>
      <div>
        <Button data-name="Add location" onClick={() => setIsAdding(true)}>
          {t('dashboard.organization.add')}
        </Button>
      </div>
      {isAdding ? (
        <LocationDialog org={null} location={null} onClose={() => setIsAdding(false)} />
      ) : null}
      <section className="card stack">
        <h2>{t('dashboard.organization.heading')}</h2>
        <p className="soft">{t('dashboard.organization.text')}</p>
        <div className="row">
          {own.map(({ id, name }) => (
            <ConfirmButton
              key={id}
              kind="primary"
              title={t('dashboard.organization.link.heading', { account: account.name, name })}
              send={t('dashboard.organization.link', { name })}
              request={() =>
                call('PUT /accounts/{account}/organization', { body: { organization: id } })
              }
            >
              <p>{t('dashboard.organization.link.text')}</p>
            </ConfirmButton>
          ))}
          <Button onClick={() => setIsCreating(true)}>{t('dashboard.organization.create')}</Button>
        </div>
        {isCreating ? <CreateDialog onClose={() => setIsCreating(false)} /> : null}
      </section>
    </>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const { texts, sending, field } = useTextForm({ name: '' });
  const [made, setMade] = useState<string | null>(null);
  const create = async () => {
    // Keeps the created organization, so that a retry after the account was refused does not create
    // another.
    const body = { name: texts.name.trim() };
    const id = made ?? (await sending.send(() => call('POST /organizations', { body })))?.id;
    if (id === undefined) return;
    setMade(id);
    const moved = await sending.send(() =>
      call('PUT /accounts/{account}/organization', { body: { organization: id } }),
    );
    if (moved !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.organization.create.heading')}
      onClose={onClose}
      sending={sending}
      onSend={create}
      send={t('dashboard.organization.create')}
    >
      <TextField label={t('desk.field.name')} {...field('name')} />
    </FormDialog>
  );
}

function Own({ organization }: { readonly organization: OrganizationObject }): ReactNode {
  const { id, name, role, accounts } = organization;
  const isOwner = role === 'owner';
  return (
    <>
      {role === 'cashier' ? null : (
        <Locations organization={organization} canChange={isOwner || role === 'admin'} />
      )}
      <section className="card stack">
        <h2>{t('dashboard.organization.heading')}</h2>
        <FactList>
          <Fact name={t('desk.field.name')}>{given(name)}</Fact>
          <Fact name={t('dashboard.field.role')}>{t(`dashboard.role.${role}`)}</Fact>
          <Fact name={t('dashboard.organization.accounts')}>
            {accounts.map((one) => named(one.name)).join(', ')}
          </Fact>
        </FactList>
        <Exits organization={organization} />
      </section>
      {role === 'cashier' ? null : (
        <>
          <OrganizationSales organization={organization} />
          <OrganizationPeople id={id} canChange={isOwner} />
        </>
      )}
    </>
  );
}

function Exits({ organization }: { readonly organization: OrganizationObject }): ReactNode {
  const { call, may, account } = useMerchant();
  const { refresh } = useDesk();
  const { id, name, role } = organization;
  const onDone = () => void refresh();
  return (
    <div className="row">
      {role === 'owner' && may('owner') ? (
        <ConfirmButton
          button="danger-quiet"
          title={t('dashboard.organization.take_out.heading', { account: account.name, name })}
          send={t('dashboard.organization.take_out')}
          request={() =>
            call('PUT /accounts/{account}/organization', { body: { organization: null } })
          }
          onDone={onDone}
        >
          <p>{t('dashboard.organization.take_out.text')}</p>
        </ConfirmButton>
      ) : null}
      <ConfirmButton
        button="danger-quiet"
        title={t('dashboard.team.leave.heading', { name })}
        send={t('dashboard.organization.leave')}
        request={() => call('POST /organizations/{org}/leave', { path: { org: id } })}
        onDone={onDone}
      >
        <p>{t('dashboard.organization.leave.text')}</p>
      </ConfirmButton>
    </div>
  );
}
