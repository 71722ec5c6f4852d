import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { ListOrganizationMembersResponse } from '../../data/types/dashboard.ts';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { useDesk } from '../../desk/desk-context.ts';
import { List } from '../../desk/short-list.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { InviteDialog, invitationColumns } from '../team/invitations.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

type Member = ListOrganizationMembersResponse['data'][number];

interface OrganizationPeopleProps {
  readonly id: string;
  readonly canChange: boolean;
}

export function OrganizationPeople({ id, canChange }: OrganizationPeopleProps): ReactNode {
  const { call } = useMerchant();
  const { session } = useDesk();
  const [isInviting, setIsInviting] = useState(false);
  const query = useRead('GET /organizations/{org}/members', { path: { org: id } });
  const columns: readonly Column<Member>[] = [
    {
      name: t('dashboard.team.person.column'),
      cell: ({ name, email }) => `${named(name)} (${named(email)})`,
    },
    { name: t('dashboard.field.role'), cell: ({ role }) => t(`dashboard.role.${role}`) },
    {
      name: t('dashboard.team.change.column'),
      cell: (member) =>
        canChange && member.user !== session.user.id ? <Remove id={id} member={member} /> : null,
    },
  ];
  return (
    <section className="stack">
      <h2>{t('dashboard.organization.people.heading')}</h2>
      <p className="soft">{t('dashboard.organization.people.text')}</p>
      <List
        label={t('dashboard.organization.people.heading')}
        query={query}
        columns={canChange ? columns : columns.slice(0, -1)}
        keyOf={({ user }) => user}
        empty={null}
      />
      {canChange ? (
        <>
          <div>
            <Button onClick={() => setIsInviting(true)}>
              {t('dashboard.organization.invite')}
            </Button>
          </div>
          <Invitations id={id} />
        </>
      ) : null}
      {isInviting ? (
        <InviteDialog
          title={t('dashboard.organization.invite.heading')}
          send={t('dashboard.organization.invite')}
          firstRole="viewer"
          invite={(body) =>
            call('POST /organizations/{org}/invitations', { path: { org: id }, body })
          }
          onClose={() => setIsInviting(false)}
        />
      ) : null}
    </section>
  );
}

function Remove({ id, member }: { readonly id: string; readonly member: Member }): ReactNode {
  const { call } = useMerchant();
  const path = { org: id, user: member.user };
  return (
    <ConfirmButton
      button="danger-quiet"
      title={t('dashboard.organization.remove.heading', { name: member.name })}
      send={t('dashboard.button.remove')}
      request={() => call('DELETE /organizations/{org}/members/{user}', { path })}
    >
      <p>{t('dashboard.organization.remove.text', { email: member.email })}</p>
    </ConfirmButton>
  );
}

function Invitations({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const query = useRead('GET /organizations/{org}/invitations', { path: { org: id } });
  if (query.data?.data.length === 0) return null;
  return (
    <List
      label={t('dashboard.organization.invitations.label')}
      query={query}
      columns={invitationColumns((invitation) =>
        call('DELETE /organizations/{org}/invitations/{id}', { path: { org: id, id: invitation } }),
      )}
      keyOf={(invitation) => invitation.id}
      empty={null}
    />
  );
}
