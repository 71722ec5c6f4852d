import { createContext, useContext } from 'react';

/** Asks for a fresh second factor. Resolves with whether it was proven. */
export type ProveFactor = () => Promise<boolean>;

export const FactorContext = createContext<ProveFactor>(async () => false);

export function useFactor(): ProveFactor {
  return useContext(FactorContext);
}
