import { type ReactNode, useState } from 'react';
import { useDesk } from '../../desk/desk-context.ts';
import { Button } from '../../ui/button.tsx';
import { useOperator } from '../use-operator.ts';
import { isOpen, type Proposal, proposalWords } from './proposal-words.ts';
import { ReasonDialog } from './reason-dialog.tsx';

export function DecideProposal({ proposal }: { readonly proposal: Proposal }): ReactNode {
  const { session } = useDesk();
  const { call, mayChange } = useOperator();
  const [open, setOpen] = useState<'approve' | 'reject' | null>(null);
  const { id, proposed_by: by, reason } = proposal;
  if (!mayChange || !isOpen(proposal)) return null;
  const isOwn = by === session.user.email;
  const close = () => setOpen(null);
  const path = { id };
  const about = (
    <>
      <p>
        <strong>{proposalWords(proposal)}</strong>
      </p>
      <p className="soft">
        {by} gives this reason: {reason}
      </p>
    </>
  );
  return (
    <div className="row">
      {isOwn ? null : (
        <Button kind="primary" onClick={() => setOpen('approve')}>
          Approve
        </Button>
      )}
      <Button onClick={() => setOpen('reject')}>{isOwn ? 'Retract' : 'Reject'}</Button>
      {open === 'approve' ? (
        <ReasonDialog
          title="Approve this?"
          send="Approve"
          hint="What you checked. It is kept in the audit log."
          request={(why) => call('POST /proposals/{id}/approve', { path, body: { reason: why } })}
          said="Approved."
          onClose={close}
        >
          {about}
        </ReasonDialog>
      ) : null}
      {open === 'reject' ? (
        <ReasonDialog
          title={isOwn ? 'Retract it?' : 'Reject this?'}
          send={isOwn ? 'Retract' : 'Reject'}
          hint="For your colleague and the audit log."
          request={(why) => call('POST /proposals/{id}/reject', { path, body: { reason: why } })}
          said={isOwn ? 'Retracted.' : 'Rejected.'}
          onClose={close}
        >
          {about}
        </ReasonDialog>
      ) : null}
    </div>
  );
}
