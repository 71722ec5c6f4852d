import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { ListInvitationsResponse, ListMembersResponse } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { useDesk } from '../../desk/desk-context.ts';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { InviteDialog, invitationColumns } from '../team/invitations.tsx';
import { choiceOf, RoleSelect } from '../team/role-select.tsx';
import { TillAccess } from '../terminals/till-access-dialog.tsx';
import { type Role, useMerchant, useRead } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { LocationsPage } from './locations.tsx';
export { Staff } from './staff.tsx';

type Member = ListMembersResponse['data'][number];

/** Returns one entry per person: the one for this account, or else the organization's. */
function peopleOf({ data, ...rest }: ListMembersResponse): ListMembersResponse {
  const own = new Set(data.filter((one) => one.organization === null).map((one) => one.user));
  const isShown = ({ user, organization }: Member) => organization === null || !own.has(user);
  return { ...rest, data: data.filter(isShown) };
}

function roleOf({ role, organization }: Member): ReactNode {
  const name = t(`dashboard.role.${role}`);
  if (organization === null) return name;
  return (
    <span className="stack stack-tight">
      <span>{name}</span>
      <span className="soft small">{t('dashboard.organization.inherited')}</span>
    </span>
  );
}

function memberColumns(change: (member: Member) => ReactNode): readonly Column<Member>[] {
  return [
    {
      name: t('dashboard.team.person.column'),
      cell: ({ name, email }) => `${named(name)} (${named(email)})`,
    },
    { name: t('dashboard.field.role'), cell: roleOf },
    { name: t('desk.second_factor'), cell: ({ two_factor }) => <Factor isSet={two_factor} /> },
    {
      name: t('dashboard.team.till.column'),
      cell: ({ has_pin }) => (has_pin ? t('dashboard.team.till.pin') : null),
    },
    {
      name: t('dashboard.team.since.column'),
      cell: ({ created }) => <Time at={created} shape="day" />,
    },
    { name: t('dashboard.team.change.column'), cell: change },
  ];
}

export function Team(): ReactNode {
  const { may } = useMerchant();
  const { session } = useDesk();
  const [isInviting, setIsInviting] = useState(false);
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [atTill, setAtTill] = useState<Member | null>(null);
  const query = useRead('GET /accounts/{account}/members');
  const people = { ...query, data: query.data && peopleOf(query.data) } as typeof query;
  const canChange = may('owner');
  const change = (member: Member) =>
    member.organization === null ? (
      <Actions
        onTill={() => setAtTill(member)}
        onRole={() => setChanging(member)}
        onRemove={() => setRemoving(member)}
        canChange={canChange && member.user !== session.user.id}
      />
    ) : null;
  const columns = memberColumns(change);
  // The dialog shows the member's current entry, because a colleague may have changed it since the
  // click.
  const current = (member: Member) =>
    query.data?.data.find(({ user }) => user === member.user) ?? member;
  return (
    <Page
      title={t('dashboard.page.team')}
      actions={
        canChange ? (
          <Button onClick={() => setIsInviting(true)}>{t('dashboard.button.invite')}</Button>
        ) : null
      }
    >
      <List
        label={t('dashboard.page.team')}
        query={people}
        columns={may('admin') ? columns : columns.slice(0, -1)}
        keyOf={({ user }) => user}
        empty={null}
      />
      {canChange ? <BelowForOwners isEarly={query.isPending} /> : null}
      {canChange || query.isPending ? null : (
        <>
          <p className="soft">{t('dashboard.team.owner_only')}</p>
          <Leave />
        </>
      )}
      {isInviting ? <Invite onClose={() => setIsInviting(false)} /> : null}
      {changing === null ? null : (
        <RoleDialog member={current(changing)} onClose={() => setChanging(null)} />
      )}
      {atTill === null ? null : (
        <TillAccess member={current(atTill)} onClose={() => setAtTill(null)} />
      )}
      {removing === null ? null : (
        <RemoveDialog member={removing} onClose={() => setRemoving(null)} />
      )}
    </Page>
  );
}

interface ActionsProps {
  readonly onTill: () => void;
  readonly onRole: () => void;
  readonly onRemove: () => void;
  /** False for users who are not owners, and for the user's own entry. */
  readonly canChange: boolean;
}

function Actions({ onTill, onRole, onRemove, canChange }: ActionsProps): ReactNode {
  return (
    <span className="row">
      <Button onClick={onTill}>{t('dashboard.till_access.button')}</Button>
      {canChange ? (
        <>
          <Button onClick={onRole}>{t('dashboard.button.change_role')}</Button>
          <Button kind="danger-quiet" onClick={onRemove}>
            {t('dashboard.button.remove')}
          </Button>
        </>
      ) : null}
    </span>
  );
}

function Factor({ isSet }: { readonly isSet: boolean }): ReactNode {
  return (
    <Status tone={isSet ? 'good' : 'warn'}>
      {isSet ? t('dashboard.team.set_up') : t('dashboard.team.missing')}
    </Status>
  );
}

function Invite({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  return (
    <InviteDialog
      title={t('dashboard.team.invite_someone.heading')}
      send={t('dashboard.button.invite')}
      firstRole="member"
      invite={(body) => call('POST /accounts/{account}/invitations', { body })}
      onClose={onClose}
    />
  );
}

interface MemberDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

function RoleDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const { call } = useMerchant();
  const [role, setRole] = useState<Role>(member.role);
  const [opened] = useState(member.version);
  const sending = useSend(['role']);
  const isStale = opened !== member.version;
  const change = async () => {
    const body = { role, version: member.version };
    const path = { user: member.user };
    const changed = await sending.send(() =>
      call('PATCH /accounts/{account}/members/{user}', { path, body }),
    );
    if (changed !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.team.role.heading', { name: member.name })}
      onClose={onClose}
      sending={sending}
      onSend={change}
      send={t('dashboard.button.change_role')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <RoleSelect
        role={role}
        onChange={setRole}
        error={sending.problemAt('role')}
        hint={storedNow({ isStale, stored: choiceOf(member.role), typed: choiceOf(role) })}
      />
      <p className="soft small">{t('dashboard.team.role.text')}</p>
    </FormDialog>
  );
}

function RemoveDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const { call } = useMerchant();
  return (
    <ConfirmDialog
      title={t('dashboard.team.remove.heading', { name: member.name })}
      send={t('dashboard.button.remove')}
      request={() =>
        call('DELETE /accounts/{account}/members/{user}', { path: { user: member.user } })
      }
      onDone={onClose}
      onClose={onClose}
    >
      <p>{t('dashboard.team.remove.text', { email: member.email })}</p>
    </ConfirmDialog>
  );
}

/** Waits for both lists, so that the content below them does not move. */
function BelowForOwners({ isEarly }: { readonly isEarly: boolean }): ReactNode {
  const query = useRead('GET /accounts/{account}/invitations');
  if (isEarly || query.isPending) return null;
  return (
    <>
      <Invitations query={query} />
      <Leave />
    </>
  );
}

interface InvitationsProps {
  readonly query: UseQueryResult<ListInvitationsResponse>;
}

function Invitations({ query }: InvitationsProps): ReactNode {
  const { call } = useMerchant();
  if (query.data?.data.length === 0) return null;
  return (
    <section className="stack">
      <h2>{t('dashboard.team.open_invitations.heading')}</h2>
      <List
        label={t('dashboard.team.open_invitations.label')}
        query={query}
        columns={invitationColumns((id) =>
          call('DELETE /accounts/{account}/invitations/{id}', { path: { id } }),
        )}
        keyOf={({ id }) => id}
        empty={null}
      />
    </section>
  );
}

function Leave(): ReactNode {
  const { call, account } = useMerchant();
  const { refresh } = useDesk();
  return (
    <div>
      <DialogButton kind="danger-quiet" words={t('dashboard.button.leave_team')}>
        {(close) => (
          <ConfirmDialog
            title={t('dashboard.team.leave.heading', { name: account.name })}
            send={t('dashboard.button.leave_team')}
            request={() => call('POST /accounts/{account}/leave')}
            onDone={() => void refresh()}
            onClose={close}
          >
            <p>{t('dashboard.team.leave.text')}</p>
          </ConfirmDialog>
        )}
      </DialogButton>
    </div>
  );
}
