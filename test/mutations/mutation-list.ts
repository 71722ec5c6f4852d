import { CHAIN_MUTATIONS } from './chain-mutations.ts';
import { LEDGER_MUTATIONS } from './ledger-mutations.ts';
import type { Mutation } from './mutation.ts';
import { WAY_MUTATIONS } from './way-mutations.ts';

/** Realistic mistakes, each named after its consequence. */
export const MUTATIONS: readonly Mutation[] = [
  ...LEDGER_MUTATIONS,
  ...CHAIN_MUTATIONS,
  ...WAY_MUTATIONS,
];
