import { createContext, useContext } from 'react';

/** Asks for a fresh second factor. Resolves to true if the user proved it. */
export type ProveFactor = () => Promise<boolean>;

export const FactorContext = createContext<ProveFactor>(async () => false);

export function useFactor(): ProveFactor {
  return useContext(FactorContext);
}
