import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import type { ListInvitationsResponse, ListMembersResponse } from '../../data/types/dashboard.ts';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { useDesk } from '../../desk/desk-context.ts';
import { Form } from '../../desk/form.tsx';
import { List } from '../../desk/list.tsx';
import { useSend } from '../../desk/send.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { type Role, useMerchant, useRead } from '../merchant.ts';

type Member = ListMembersResponse['data'][number];
type Invitation = ListInvitationsResponse['data'][number];

/** What each role may do beyond the one before it. */
const ROLES: Readonly<Record<Role, string>> = {
  viewer: 'Viewer: can see everything except keys',
  member: 'Member: can also refund, and rename tills',
  admin: 'Admin: can also manage keys, tills, webhooks and verification',
  owner: 'Owner: can also manage the team, the wallet and payouts',
};

export function Team(): ReactNode {
  const { may } = useMerchant();
  const { session } = useDesk();
  const [isInviting, setIsInviting] = useState(false);
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const query = useRead('GET /accounts/{account}/members');
  const canChange = may('owner');
  const columns: readonly Column<Member>[] = [
    { name: 'Person', cell: ({ name, email }) => `${named(name)} (${named(email)})` },
    { name: 'Role', cell: ({ role }) => role },
    { name: 'Second factor', cell: ({ two_factor }) => <Factor isSet={two_factor} /> },
    { name: 'Since', cell: ({ created }) => <Time at={created} shape="day" /> },
    {
      name: 'Change',
      cell: (member) =>
        canChange && member.user !== session.user.id ? (
          <span className="row">
            <Button onClick={() => setChanging(member)}>Change role</Button>
            <Button kind="danger-quiet" onClick={() => setRemoving(member)}>
              Remove
            </Button>
          </span>
        ) : null,
    },
  ];
  return (
    <Page
      title="Team"
      actions={canChange ? <Button onClick={() => setIsInviting(true)}>Invite</Button> : null}
    >
      <List
        label="Team"
        query={query}
        columns={canChange ? columns : columns.slice(0, -1)}
        keyOf={({ user }) => user}
        empty={null}
      />
      {canChange ? <BelowForOwners isEarly={query.isPending} /> : null}
      {canChange || query.isPending ? null : (
        <>
          <p className="soft">Only an owner can change the team.</p>
          <Leave />
        </>
      )}
      {isInviting ? <InviteDialog onClose={() => setIsInviting(false)} /> : null}
      {changing === null ? null : (
        <RoleDialog
          // As the list has it now: a colleague may have changed it meanwhile.
          member={query.data?.data.find(({ user }) => user === changing.user) ?? changing}
          onClose={() => setChanging(null)}
        />
      )}
      {removing === null ? null : (
        <RemoveDialog member={removing} onClose={() => setRemoving(null)} />
      )}
    </Page>
  );
}

function Factor({ isSet }: { readonly isSet: boolean }): ReactNode {
  return <Status tone={isSet ? 'good' : 'warn'}>{isSet ? 'Set up' : 'Missing'}</Status>;
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
      label="Role"
      value={role}
      onChange={(event) => onChange(event.target.value as Role)}
      error={error}
      hint={hint ?? undefined}
    >
      {Object.entries(ROLES).map(([name, words]) => (
        <option key={name} value={name}>
          {words}
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
    if (email.trim() === '') return sending.refuse('email', 'Enter an email address.');
    const body = { email: email.trim(), role };
    const made = await sending.send(() => call('POST /accounts/{account}/invitations', { body }));
    if (made !== null) onClose();
  };
  return (
    <Dialog title="Invite someone" onClose={onClose}>
      <Form sending={sending} onSend={invite} send="Invite" onCancel={onClose}>
        <TextField
          label="Email"
          type="email"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          hint="We send a link there. It is valid for seven days."
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
    <Dialog title={`The role of ${named(member.name)}`} onClose={onClose}>
      <Form sending={sending} onSend={change} send="Change role" onCancel={onClose}>
        <ChangedMeanwhile isStale={isStale} />
        <RoleSelect
          role={role}
          onChange={setRole}
          error={sending.problemAt('role')}
          hint={storedNow({ isStale, stored: ROLES[member.role], typed: ROLES[role] })}
        />
        <p className="soft small">
          Granting or removing ownership asks for your second factor. All owners are notified.
        </p>
      </Form>
    </Dialog>
  );
}

function RemoveDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const { call } = useMerchant();
  return (
    <ConfirmDialog
      title={`Remove ${named(member.name)} from the team?`}
      send="Remove"
      request={() =>
        call('DELETE /accounts/{account}/members/{user}', { path: { user: member.user } })
      }
      onDone={onClose}
      onClose={onClose}
    >
      <p>{member.email} loses all access immediately.</p>
    </ConfirmDialog>
  );
}

const INVITATION_COLUMNS: readonly Column<Invitation>[] = [
  { name: 'Invited', cell: ({ email }) => email },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Valid until', cell: ({ expires_at }) => <Time at={expires_at} /> },
  { name: 'Change', cell: ({ id, email }) => <TakeBack id={id} email={email} /> },
];

/** Waits for both lists: what stands below them must not move. */
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
      <h2>Open invitations</h2>
      <List
        label="Open invitations"
        query={query}
        columns={INVITATION_COLUMNS}
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
        Revoke
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title="Revoke the invitation?"
          send="Revoke"
          request={() => call('DELETE /accounts/{account}/invitations/{id}', { path: { id } })}
          onDone={() => setIsAsking(false)}
          onClose={() => setIsAsking(false)}
        >
          <p>The link that {email} received stops working.</p>
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
        Leave the team
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={`Leave ${named(account.name)}?`}
          send="Leave the team"
          request={() => call('POST /accounts/{account}/leave')}
          onDone={() => void refresh()}
          onClose={() => setIsAsking(false)}
        >
          <p>You lose all access immediately. You need a new invitation to return.</p>
        </ConfirmDialog>
      ) : null}
    </div>
  );
}
