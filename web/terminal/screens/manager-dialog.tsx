import { type ReactNode, useEffect } from 'react';
import type { ManagerAtTill } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { usePeople, useShiftApi } from './cashiers.tsx';
import { PinForm } from './person-form.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded } from './use-loaded.tsx';

export interface ManagerDialogProps extends Pick<TillContext, 'change'> {
  /** True if the service has refused a person and PIN. */
  readonly wasRefused: boolean;
  /** True if too many wrong PINs block that person. */
  readonly isBlocked?: boolean;
  readonly onManager: (manager: ManagerAtTill) => void;
  /** Called if a code from the dashboard is to be entered instead. */
  readonly onCode: () => void;
  readonly onClose: () => void;
}

/** Asks a manager at the till for the PIN, which allows what the service has refused. */
export function ManagerDialog(props: ManagerDialogProps): ReactNode {
  const { wasRefused, isBlocked = false, onManager, onCode, onClose } = props;
  const refused = isBlocked ? t('till.person.blocked') : t('till.manager.refused');
  const { people, failed, reload } = usePeople(useShiftApi(), props);
  const managers = people?.filter(({ lifts }) => lifts === true);
  const hasNone = managers?.length === 0;
  useEffect(() => {
    if (hasNone) onCode();
  }, [hasNone, onCode]);
  if (hasNone) return null;
  return (
    <Dialog title={t('till.manager.heading')} onClose={onClose}>
      <p>{t('till.manager.text')}</p>
      {failed ? <NotLoaded words={t('till.person.not_loaded')} onRetry={reload} /> : null}
      {managers === undefined ? null : (
        <PinForm
          people={managers}
          chooses
          data-name="Allow"
          button={t('till.manager.button')}
          problem={wasRefused ? refused : null}
          send={async ({ id }, pin) => {
            onManager({ id, pin });
            return null;
          }}
        />
      )}
      <Button onClick={onCode}>{t('till.manager.code_button')}</Button>
      <Button onClick={onClose}>{t('till.refund.cancel_button')}</Button>
    </Dialog>
  );
}
