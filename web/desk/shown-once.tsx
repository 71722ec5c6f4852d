import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyField } from '../ui/copy-field.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';

export interface ShownOnceProps {
  readonly title: string;
  readonly label: string;
  readonly secret: string;
  /** Set for a secret that has several lines. */
  readonly whole?: boolean;
  readonly onClose: () => void;
  /** Instructions for the user. */
  readonly children?: ReactNode;
}

/** Shows a secret once, because the service stores only its hash. */
export function ShownOnce(props: ShownOnceProps): ReactNode {
  const { title, label, secret, whole = false, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="warn">
        <p>{t('desk.shown_once.text')}</p>
      </Notice>
      <CopyField label={label} value={secret} whole={whole} />
      {children}
      <div className="row">
        <Button kind="primary" onClick={onClose}>
          {t('desk.button.done')}
        </Button>
      </div>
    </Dialog>
  );
}
