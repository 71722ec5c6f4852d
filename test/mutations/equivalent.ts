/**
 * Mutations that no test can notice, by their id in results.json, each with the proof: why the
 * mutated program does the same in every case.
 */
export const PROOFS: Readonly<Record<string, string>> = {};
