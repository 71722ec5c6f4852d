import { type ReactNode, useState } from 'react';
import type { StaffMember } from '../../data/types/dashboard.ts';
import { List } from '../../desk/short-list.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { limitFact, type ShopNow, useShopNow } from '../account/limit-field.tsx';
import { AddPersonDialog, ChangePersonDialog, RemovePersonDialog } from '../team/staff-dialogs.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

function limitOf(person: StaffMember, shop: ShopNow): string {
  const { refund_limit: atoms, refund_limit_presentment: presentment } = person;
  return atoms === null ? t('dashboard.staff.no_limit') : limitFact({ atoms, presentment }, shop);
}

function staffColumns(
  shop: ShopNow,
  change: (person: StaffMember) => ReactNode,
): readonly Column<StaffMember>[] {
  return [
    {
      name: t('desk.field.name'),
      cell: ({ name, pin_blocked }) => (
        <span className="stack stack-tight">
          <span>{given(name)}</span>
          {pin_blocked ? <Status tone="bad">{t('dashboard.staff.blocked')}</Status> : null}
        </span>
      ),
    },
    { name: t('dashboard.field.role'), cell: ({ role }) => t(`dashboard.till_role.${role}`) },
    {
      name: t('dashboard.till_access.refund_limit'),
      cell: (person) => limitOf(person, shop),
    },
    {
      name: t('dashboard.till_access.may_discount'),
      cell: ({ may_discount }) => t(may_discount ? 'dashboard.staff.yes' : 'dashboard.staff.no'),
    },
    { name: t('dashboard.team.change.column'), cell: change },
  ];
}

interface Opened {
  readonly is: 'change' | 'remove';
  readonly id: string;
}

export function Staff(): ReactNode {
  const { may } = useMerchant();
  const shop = useShopNow();
  const [isAdding, setIsAdding] = useState(false);
  const [opened, setOpened] = useState<Opened | null>(null);
  const query = useRead('GET /accounts/{account}/staff');
  const canChange = may('admin');
  const columns = staffColumns(shop, ({ id }) => (
    <span className="row">
      <Button onClick={() => setOpened({ is: 'change', id })}>
        {t('dashboard.organization.edit')}
      </Button>
      <Button kind="danger-quiet" onClick={() => setOpened({ is: 'remove', id })}>
        {t('dashboard.button.remove')}
      </Button>
    </span>
  ));
  const person = query.data?.data.find(({ id }) => id === opened?.id);
  const close = () => setOpened(null);
  return (
    <Page
      title={t('dashboard.page.staff')}
      actions={
        canChange ? (
          <Button data-name="Add person" kind="primary" onClick={() => setIsAdding(true)}>
            {t('dashboard.staff.add')}
          </Button>
        ) : null
      }
    >
      <p className="soft">{t('dashboard.staff.text')}</p>
      <List
        label={t('dashboard.page.staff')}
        query={query}
        columns={canChange ? columns : columns.slice(0, -1)}
        keyOf={({ id }) => id}
        empty={<p className="soft">{t('dashboard.staff.empty')}</p>}
      />
      {isAdding ? <AddPersonDialog onClose={() => setIsAdding(false)} /> : null}
      {person !== undefined && opened?.is === 'change' ? (
        <ChangePersonDialog person={person} onClose={close} />
      ) : null}
      {person !== undefined && opened?.is === 'remove' ? (
        <RemovePersonDialog person={person} onClose={close} />
      ) : null}
    </Page>
  );
}
