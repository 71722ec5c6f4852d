import { CHAIN_MUTATIONS } from './chain-mutations.ts';
import { LEDGER_MUTATIONS } from './ledger-mutations.ts';
import type { Mutation } from './mutation.ts';
import { WAY_MUTATIONS } from './way-mutations.ts';

/** Mistakes that somebody could really make, each named after what goes wrong. */
export const MUTATIONS: readonly Mutation[] = [
  ...LEDGER_MUTATIONS,
  ...CHAIN_MUTATIONS,
  ...WAY_MUTATIONS,
];
