import { createContext, useContext } from 'react';
import type { PeopleApi, Session } from '../data/people-api.ts';

export interface Desk {
  readonly people: PeopleApi;
  readonly session: Session;
  /** Reloads the session after a change of factors or accounts. */
  refresh(): Promise<void>;
  signOut(): Promise<void>;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error('useDesk is used outside of <DeskGate>');
  return desk;
}
