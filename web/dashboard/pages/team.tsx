import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import type { ListInvitationsResponse, ListMembersResponse } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { useDesk } from '../../desk/desk-context.ts';
import { Form } from '../../desk/form.tsx';
import { List } from '../../desk/list.tsx';
import { useSend } from '../../desk/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { given } from '../../ui/text/fixed.ts';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { type Role, useMerchant, useRead } from '../merchant.ts';
import { TillAccess } from '../parts/till-access.tsx';

type Member = ListMembersResponse['data'][number];
type Invitation = ListInvitationsResponse['data'][number];

const ROLES: readonly Role[] = ['cashier', 'viewer', 'member', 'admin', 'owner'];

const choiceOf = (role: Role) => t(`dashboard.role_choice.${role}`);

function memberColumns(change: (member: Member) => ReactNode): readonly Column<Member>[] {
  return [
    {
      name: t('dashboard.team.person.column'),
      cell: ({ name, email }) => `${named(name)} (${named(email)})`,
    },
    { name: t('dashboard.field.role'), cell: ({ role }) => t(`dashboard.role.${role}`) },
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
  // A dialog shows the member's current entry, because a colleague may have changed it meanwhile.
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
        query={query}
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
      {isInviting ? <InviteDialog onClose={() => setIsInviting(false)} /> : null}
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
  /** False for people who are no owners, and for one's own entry. */
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

interface RoleSelectProps {
  readonly role: Role;
  readonly onChange: (role: Role) => void;
  readonly error: string | null;
  readonly hint?: string | null;
}

function RoleSelect({ role, onChange, error, hint = null }: RoleSelectProps): ReactNode {
  return (
    <Select
      label={t('dashboard.field.role')}
      value={role}
      onChange={(event) => onChange(event.target.value as Role)}
      error={error}
      hint={hint ?? undefined}
    >
      {ROLES.map((name) => (
        <option key={name} value={name}>
          {choiceOf(name)}
        </option>
      ))}
    </Select>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const sending = useSend(['email', 'role']);
  const invite = async () => {
    if (email.trim() === '')
      return sending.refuse('email', t('dashboard.team.invite.email_missing'));
    const body = { email: email.trim(), role };
    const made = await sending.send(() => call('POST /accounts/{account}/invitations', { body }));
    if (made !== null) onClose();
  };
  return (
    <Dialog title={t('dashboard.team.invite_someone.heading')} onClose={onClose}>
      <Form
        sending={sending}
        onSend={invite}
        send={t('dashboard.button.invite')}
        onCancel={onClose}
      >
        <TextField
          data-name="Email"
          label={t('desk.field.email')}
          type="email"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          hint={t('dashboard.team.invite.hint')}
          error={sending.problemAt('email')}
        />
        <RoleSelect role={role} onChange={setRole} error={sending.problemAt('role')} />
      </Form>
    </Dialog>
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
    <Dialog title={t('dashboard.team.role.heading', { name: member.name })} onClose={onClose}>
      <Form
        sending={sending}
        onSend={change}
        send={t('dashboard.button.change_role')}
        onCancel={onClose}
      >
        <ChangedMeanwhile isStale={isStale} />
        <RoleSelect
          role={role}
          onChange={setRole}
          error={sending.problemAt('role')}
          hint={storedNow({ isStale, stored: choiceOf(member.role), typed: choiceOf(role) })}
        />
        <p className="soft small">{t('dashboard.team.role.text')}</p>
      </Form>
    </Dialog>
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

const invitationColumns = (): readonly Column<Invitation>[] => [
  { name: t('dashboard.team.invited.column'), cell: ({ email }) => given(email) },
  { name: t('dashboard.field.role'), cell: ({ role }) => t(`dashboard.role.${role}`) },
  {
    name: t('dashboard.team.valid_until.column'),
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  {
    name: t('dashboard.team.change.column'),
    cell: ({ id, email }) => <TakeBack id={id} email={email} />,
  },
];

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
  if (query.data?.data.length === 0) return null;
  return (
    <section className="stack">
      <h2>{t('dashboard.team.open_invitations.heading')}</h2>
      <List
        label={t('dashboard.team.open_invitations.label')}
        query={query}
        columns={invitationColumns()}
        keyOf={({ id }) => id}
        empty={null}
      />
    </section>
  );
}

function TakeBack({ id, email }: { readonly id: string; readonly email: string }): ReactNode {
  const { call } = useMerchant();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button kind="danger-quiet" onClick={() => setIsAsking(true)}>
        {t('dashboard.button.revoke')}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={t('dashboard.team.revoke_the_invitation.heading')}
          send={t('dashboard.button.revoke')}
          request={() => call('DELETE /accounts/{account}/invitations/{id}', { path: { id } })}
          onDone={() => setIsAsking(false)}
          onClose={() => setIsAsking(false)}
        >
          <p>{t('dashboard.team.revoke.text', { email })}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function Leave(): ReactNode {
  const { call, account } = useMerchant();
  const { refresh } = useDesk();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <div>
      <Button kind="danger-quiet" onClick={() => setIsAsking(true)}>
        {t('dashboard.button.leave_team')}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={t('dashboard.team.leave.heading', { name: account.name })}
          send={t('dashboard.button.leave_team')}
          request={() => call('POST /accounts/{account}/leave')}
          onDone={() => void refresh()}
          onClose={() => setIsAsking(false)}
        >
          <p>{t('dashboard.team.leave.text')}</p>
        </ConfirmDialog>
      ) : null}
    </div>
  );
}
