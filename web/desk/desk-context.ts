import { createContext, useContext } from 'react';
import type { PeopleApi, Session } from '../data/people.ts';

/** The person at the desk. */
export interface Desk {
  readonly people: PeopleApi;
  readonly session: Session;
  /** Reads the session again: factors or accounts have changed. */
  refresh(): Promise<void>;
  signOut(): Promise<void>;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error('useDesk is used outside of <DeskGate>');
  return desk;
}
