import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import {
  createShiftApi,
  type ListedPerson,
  type Person,
  type ShiftApi,
} from '../../data/shift-api.ts';
import type { Shift } from '../../data/types/device.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { enterFullScreen, hasFullScreen } from '../full-screen.ts';
import { keptPairing } from '../till-storage.ts';
import { PersonForm } from './person-form.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded } from './use-loaded.tsx';

/**
 * The hooks and forms in this file concern the signed-in cashier, and actions that require a PIN.
 */

export function useShiftApi(): ShiftApi {
  return useMemo(() => createShiftApi(keptPairing()?.key ?? ''), []);
}

interface FoundPeople {
  /** `null` until the service has answered. */
  readonly people: readonly ListedPerson[] | null;
  readonly failed: boolean;
  readonly reload: () => void;
}

/**
 * Loads the cashiers with a PIN. Stores whether there are any, because an offline till must know
 * that.
 */
export function usePeople(api: ShiftApi, { change }: Pick<TillContext, 'change'>): FoundPeople {
  const [people, setPeople] = useState<readonly ListedPerson[] | null>(null);
  const [failed, setFailed] = useState(false);
  const reload = useCallback(() => {
    setFailed(false);
    void api.people().then((answer) => {
      if (answer.is !== 'done') return setFailed(true);
      setPeople(answer.value.data);
      change({ hasPeople: answer.value.data.length > 0 });
    });
  }, [api, change]);
  useEffect(reload, [reload]);
  return { people, failed, reload };
}

/** Returns the settings of a till where this cashier is signed in. */
export function shiftOf({ id, name }: Person, { started_at }: Pick<Shift, 'started_at'>) {
  return { shiftSince: started_at, person: { id, name }, cashier: '', ended: null };
}

function HandOver({
  context,
  onClose,
}: {
  readonly context: TillContext;
  readonly onClose: () => void;
}): ReactNode {
  const api = useShiftApi();
  const { people, failed, reload } = usePeople(api, context);
  const own = context.settings.person?.id;
  // Puts the likeliest cashier first, because the first one is preselected. That is never the
  // signed-in cashier.
  const byLikelihood = people?.toSorted((one, other) => {
    return Number(one.id === own) - Number(other.id === own);
  });
  return (
    <Dialog title={t('till.hand_over.heading')} onClose={onClose}>
      <p>{t('till.hand_over.text')}</p>
      {failed ? <NotLoaded words={t('till.person.not_loaded')} onRetry={reload} /> : null}
      {byLikelihood === undefined ? null : (
        <PersonForm
          api={api}
          people={byLikelihood}
          data-name="Hand over"
          button={t('till.hand_over.button')}
          onIn={(person, shift) => {
            context.change(shiftOf(person, shift));
            onClose();
          }}
        />
      )}
      <Button onClick={onClose}>{t('till.hand_over.keep_button')}</Button>
    </Dialog>
  );
}

export function FullScreenButton(): ReactNode {
  if (!hasFullScreen()) return null;
  return (
    <Button data-name="Full screen" onClick={enterFullScreen}>
      {t('till.full_screen.button')}
    </Button>
  );
}

export function WhoIsIn(context: TillContext): ReactNode {
  const { person } = context.settings;
  const [isHandingOver, setIsHandingOver] = useState(false);
  if (person === null) return null;
  return (
    <div className="row unprinted">
      <span>{named(person.name)}</span>
      <Button data-name="Hand over" onClick={() => setIsHandingOver(true)}>
        {t('till.hand_over.button')}
      </Button>
      <FullScreenButton />
      {isHandingOver ? (
        <HandOver context={context} onClose={() => setIsHandingOver(false)} />
      ) : null}
    </div>
  );
}

export interface OwnPinProps {
  readonly person: Person;
  readonly button: string;
  readonly 'data-name': string;
  readonly onIn: () => void;
}

/** Asks the signed-in cashier for the PIN again, before a protected action. */
export function OwnPin({ person, button, onIn, 'data-name': dataName }: OwnPinProps): ReactNode {
  const api = useShiftApi();
  return (
    <PersonForm api={api} people={[person]} button={button} data-name={dataName} onIn={onIn} />
  );
}
