import type { ReactNode } from 'react';
import type { Answer } from '../../data/api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

interface RevokeSheetProps {
  /** The name that the user gave, or empty. */
  readonly name: string;
  /** The title if there is no name. */
  readonly title: string;
  /** The label of the button that revokes. */
  readonly act: string;
  /** The label of the button that closes the dialog. */
  readonly keep: string;
  readonly revoke: () => Promise<Answer<unknown>>;
  readonly onClose: () => void;
}

/** Asks before something that pays is revoked. */
export function RevokeSheet(props: RevokeSheetProps): ReactNode {
  const { name, title, act, keep, onClose } = props;
  const { busy, problem, change } = useChange();
  const revoke = async () => {
    if ((await change(props.revoke)) !== null) onClose();
  };
  return (
    <Dialog title={name === '' ? title : t('wallet.revoke.heading_of', { name })} onClose={onClose}>
      <p>{t('wallet.revoke.text')}</p>
      <ProblemNotice problem={problem} />
      <Button kind="danger" large busy={busy} onClick={revoke}>
        {act}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {keep}
      </Button>
    </Dialog>
  );
}
