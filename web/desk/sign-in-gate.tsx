import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import type { PeopleApi, Session } from '../data/people-api.ts';
import { Button } from '../ui/button.tsx';
import { fontLooked, showFont } from '../ui/font/font.ts';
import { firstPartOf, partOf } from '../ui/lazy-part.ts';
import { Notice } from '../ui/notice.tsx';
import './desk.css';
import { t } from '../ui/text/t.ts';
import { type Desk, DeskContext } from './desk-context.ts';
import { type Trouble, wordsOf } from './error-texts.ts';
import { FactorProvider } from './factor-provider.tsx';
import { Sheet } from './single-task-page.tsx';

/** Loads on demand, because signed-in users do not need these forms. */
const SignInForm = firstPartOf(async () => (await import('./sign-in.tsx')).SignInForm);
const SecondStep = firstPartOf(async () => (await import('./sign-in.tsx')).SecondStep);
const SignInDialog = partOf(async () => (await import('./sign-in-dialog.tsx')).SignInDialog);

export interface DeskGateProps {
  readonly people: PeopleApi;
  /** The name of the app that the user signs in to. */
  readonly brand: string;
  /** Links to other ways to sign in, below the form. */
  readonly otherWays?: ReactNode;
  readonly children: ReactNode;
}

type Place =
  | { readonly is: 'asking' }
  | { readonly is: 'unreachable'; readonly words: string }
  | { readonly is: 'signed_out' }
  | { readonly is: 'half'; readonly session: Session }
  /** `ended`: the session has ended, but the page still shows the user's input. */
  | { readonly is: 'signed_in'; readonly session: Session; readonly ended: boolean };

/**
 * Returns the storage key that marks a session. Without an entry, the app sends no request, because
 * the service would refuse it.
 */
function sessionEntryOf(people: PeopleApi): string {
  return `tapline ${people.realm} signed in`;
}

function placeOf(session: Session): Place {
  return session.status === 'signed_in'
    ? { is: 'signed_in', session, ended: false }
    : { is: 'half', session };
}

function placeAfter(trouble: Trouble): Place {
  const isOut = trouble.is === 'refused' && trouble.error.code === 'session_missing';
  return isOut ? { is: 'signed_out' } : { is: 'unreachable', words: wordsOf(trouble) };
}

function useSession(people: PeopleApi) {
  const [place, setPlace] = useState<Place>({ is: 'asking' });
  const enter = useCallback(
    (session: Session) => {
      localStorage.setItem(sessionEntryOf(people), 'yes');
      showFont();
      setPlace(placeOf(session));
    },
    [people],
  );
  const ask = useCallback(async () => {
    if (localStorage.getItem(sessionEntryOf(people)) === null) {
      // Loads the form's code first, so that the form appears together with its page. If loading
      // fails, rendering shows the error.
      await Promise.all([fontLooked, SignInForm.load().catch(() => undefined)]);
      return setPlace({ is: 'signed_out' });
    }
    const [answer] = await Promise.all([people.call('GET /session'), fontLooked]);
    if (answer.is === 'done') enter(answer.value);
    else setPlace(placeAfter(answer));
  }, [people, enter]);
  useEffect(() => {
    void ask();
    return people.onEnded(() =>
      setPlace((now) => (now.is === 'signed_in' ? { ...now, ended: true } : { is: 'signed_out' })),
    );
  }, [people, ask]);
  const leave = useCallback(async () => {
    const answer = await people.call('DELETE /session');
    // On a shared computer the user must learn that sign-out failed.
    if (answer.is !== 'done' && placeAfter(answer).is !== 'signed_out') return false;
    localStorage.removeItem(sessionEntryOf(people));
    setPlace({ is: 'signed_out' });
    return true;
  }, [people]);
  return { place, enter, ask, leave };
}

/** Shows the app to signed-in users and the sign-in form to others, without changing the URL. */
export function DeskGate({ people, brand, otherWays, children }: DeskGateProps): ReactNode {
  const { place, enter, ask, leave } = useSession(people);
  const cache = useQueryClient();
  const signedInAs = place.is === 'signed_in' ? place.session : null;
  const desk = useMemo<Desk | null>(() => {
    if (signedInAs === null) return null;
    const signOut = async () => {
      // Cancels reads first: a read that arrives after the sign-out would be refused, and would ask
      // the user to sign in again.
      await cache.cancelQueries();
      if (await leave()) cache.clear();
      else void cache.invalidateQueries();
    };
    return { people, session: signedInAs, refresh: ask, signOut };
  }, [people, signedInAs, ask, leave, cache]);
  if (place.is === 'asking') return <p className="unseen">{t('desk.gate.loading')}</p>;
  if (place.is === 'unreachable') {
    return (
      <Sheet title={brand}>
        <Notice tone="bad" role="alert">
          <p>{place.words}</p>
        </Notice>
        <Button onClick={() => void ask()}>{t('desk.button.try_again')}</Button>
      </Sheet>
    );
  }
  const cancel = () => void leave();
  if (place.is === 'half') {
    const { session } = place;
    return (
      <Sheet title={t('desk.second_factor')}>
        <SecondStep people={people} session={session} onSession={enter} onCancel={cancel} />
      </Sheet>
    );
  }
  if (place.is === 'signed_out' || desk === null) {
    return (
      <Sheet title={t('desk.gate.sign_in.heading', { brand })}>
        <SignInForm people={people} onSession={enter} />
        {otherWays}
      </Sheet>
    );
  }
  const comeBack = (session: Session) => {
    // Reloads, because the page's contents belong to the previous user.
    if (session.user.id !== desk.session.user.id) return location.reload();
    enter(session);
    void cache.invalidateQueries();
  };
  return (
    <DeskContext value={desk}>
      <FactorProvider>
        {children}
        {place.is === 'signed_in' && place.ended ? (
          <SignInDialog people={people} onSession={comeBack} />
        ) : null}
      </FactorProvider>
    </DeskContext>
  );
}
