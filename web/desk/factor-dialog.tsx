import { type ReactNode, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { partOf } from '../ui/lazy-part.ts';
import { t } from '../ui/text/t.ts';
import { useDesk } from './desk-context.ts';
import { FactorForm } from './factor-form.tsx';

const TotpSetup = partOf(async () => (await import('./totp-setup.tsx')).TotpSetup);

export function FactorDialog({
  onClose,
}: {
  readonly onClose: (proven: boolean) => void;
}): ReactNode {
  const { people, session, refresh } = useDesk();
  // Keeps the factors from when the dialog opened: setting up a factor in it must not change its
  // form.
  const [factors] = useState(session.user.factors);
  const cancel = () => onClose(false);
  const done = () => {
    void refresh();
    onClose(true);
  };
  if (factors.first_choice === null) {
    return (
      <Dialog title={t('desk.factor.set_up_first')} onClose={cancel}>
        <TotpSetup asksPassword onDone={done} onCancel={cancel} />
      </Dialog>
    );
  }
  return (
    <Dialog title={t('desk.factor.confirm.heading')} onClose={cancel}>
      <FactorForm
        people={people}
        factors={factors}
        send={t('desk.button.confirm')}
        onProven={done}
        onCancel={cancel}
      />
    </Dialog>
  );
}
