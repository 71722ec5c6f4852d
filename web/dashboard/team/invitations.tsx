import { type ReactNode, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import type { ListInvitationsResponse } from '../../data/types/dashboard.ts';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { TextField } from '../../ui/field.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import type { Role } from '../use-merchant.ts';
import { RoleSelect } from './role-select.tsx';

/** Invitations to an account and to an organization differ only in their routes and texts. */

export type Invitation = ListInvitationsResponse['data'][number];

interface InviteDialogProps {
  readonly title: string;
  readonly send: string;
  readonly firstRole: Role;
  readonly invite: (body: { email: string; role: Role }) => Promise<Answer<Invitation>>;
  readonly onClose: () => void;
}

export function InviteDialog(props: InviteDialogProps): ReactNode {
  const { title, send, invite, onClose } = props;
  const [email, setEmail] = useState('');
  const [role, setRole] = useState(props.firstRole);
  const sending = useSend(['email', 'role']);
  const run = async () => {
    if (email.trim() === '')
      return sending.refuse('email', t('dashboard.team.invite.email_missing'));
    const made = await sending.send(() => invite({ email: email.trim(), role }));
    if (made !== null) onClose();
  };
  return (
    <FormDialog title={title} onClose={onClose} sending={sending} onSend={run} send={send}>
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
    </FormDialog>
  );
}

type Revoke = (id: string) => Promise<Answer<unknown>>;

export const invitationColumns = (revoke: Revoke): readonly Column<Invitation>[] => [
  { name: t('dashboard.team.invited.column'), cell: ({ email }) => given(email) },
  { name: t('dashboard.field.role'), cell: ({ role }) => t(`dashboard.role.${role}`) },
  {
    name: t('dashboard.team.valid_until.column'),
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  {
    name: t('dashboard.team.change.column'),
    cell: ({ id, email }) => <TakeBack email={email} revoke={() => revoke(id)} />,
  },
];

interface TakeBackProps {
  readonly email: string;
  readonly revoke: () => Promise<Answer<unknown>>;
}

function TakeBack({ email, revoke }: TakeBackProps): ReactNode {
  return (
    <ConfirmButton
      button="danger-quiet"
      title={t('dashboard.team.revoke_the_invitation.heading')}
      send={t('dashboard.button.revoke')}
      request={revoke}
    >
      <p>{t('dashboard.team.revoke.text', { email })}</p>
    </ConfirmButton>
  );
}
