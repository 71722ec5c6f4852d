import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';

interface AgreedDialogProps {
  readonly title: string;
  /** The label of the checkbox. */
  readonly agree: string;
  /** The label of the button that acts. */
  readonly act: string;
  /** The label of the button that closes the dialog. */
  readonly keep: string;
  readonly onAct: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog whose button acts only after the user has checked a checkbox. */
export function AgreedDialog(props: AgreedDialogProps): ReactNode {
  const [agreed, setAgreed] = useState(false);
  const [missing, setMissing] = useState(false);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.children}
      <Choice
        type="checkbox"
        name="agreed"
        value="yes"
        label={props.agree}
        checked={agreed}
        onChange={setAgreed}
      />
      {missing && !agreed ? (
        <Notice tone="bad" role="alert">
          {t('wallet.tick_first')}
        </Notice>
      ) : null}
      <Button kind="danger" large onClick={() => (agreed ? props.onAct() : setMissing(true))}>
        {props.act}
      </Button>
      <Button kind="quiet" onClick={props.onClose}>
        {props.keep}
      </Button>
    </Dialog>
  );
}
