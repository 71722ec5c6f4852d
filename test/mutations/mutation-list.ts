import type { Mutation } from './mutation.ts';

/** Mistakes that somebody could really make, each named after what goes wrong. */
export const MUTATIONS: readonly Mutation[] = [];
