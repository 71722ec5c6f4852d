// Runs the forge tests on a copy of the contracts that contains one bug.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Judgment } from '../../test/mutations/judge.ts';
import { type Mutation, mutate } from '../../test/mutations/mutation.ts';
import { compileContract, hashSources } from '../compile.ts';
import { contractsFolder, runForge } from '../forge.ts';

/** Enough fuzz runs to detect every mutation; contracts.test.ts runs the full campaign. */
const SHORT_CAMPAIGN = {
  FOUNDRY_INVARIANT_RUNS: '10',
  FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT: '1',
  FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: join(tmpdir(), 'tapline-mutation-failures'),
  FOUNDRY_FUZZ_RUNS: '64',
};

/**
 * Runs the tests on a mutation. @param likelyKiller a test to run before all others, because it
 * detected the same bug before.
 */
export async function judge(mutation: Mutation, likelyKiller?: string): Promise<Judgment> {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-mutation-'));
  // Writes into contracts/, the only folder that forge may read. In a new clone, the subfolder does
  // not exist yet.
  const artifactPath = (contract: string) =>
    join(contractsFolder, 'out', `mutation-${process.pid}-${contract}.json`);
  mkdirSync(join(contractsFolder, 'out'), { recursive: true });
  try {
    copySources(folder);
    const path = join(folder, mutation.file);
    writeFileSync(path, mutate(readFileSync(path, 'utf8'), mutation));
    const environment: Record<string, string> = { ...SHORT_CAMPAIGN };
    for (const contract of CONTRACTS) {
      if (!isChanged(contract, folder)) continue;
      const complaint = writeArtifact(contract, folder, artifactPath(contract));
      if (complaint !== null) return { verdict: 'caught by types', by: complaint };
      environment[`ARTIFACT_${contract}`] = artifactPath(contract);
    }
    const likely = likelyKiller === undefined ? [] : [['--match-test', likelyKiller]];
    for (const tests of [...likely, []]) {
      const { passed, output } = await runForge(['--fail-fast', ...tests], environment);
      if (!passed) return { verdict: 'caught', by: failedTest(output) };
    }
    return { verdict: 'survived', by: '' };
  } finally {
    for (const contract of CONTRACTS) rmSync(artifactPath(contract), { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the sources, without the tests. */
export function copySources(folder: string): void {
  cpSync(contractsFolder, folder, {
    recursive: true,
    filter: (path) => path === contractsFolder || path.endsWith('.sol'),
  });
}

/** The settlement contract deploys the others, whose code it has fixed. */
const CONTRACTS = ['Settlement', 'SettlementLens', 'Timelock'];

function isChanged(contract: string, root: string): boolean {
  return hashSources(contract, root) !== hashSources(contract);
}

/** Compiles the mutant and writes its artifact. @returns the compiler's error, or null. */
function writeArtifact(contract: string, root: string, path: string): string | null {
  try {
    const artifact = compileContract(contract, { root, warningsAllowed: true });
    writeFileSync(path, JSON.stringify(artifact));
    return null;
  } catch (error) {
    // A file system error is not a compile error and says nothing about the mutation.
    if (!(error instanceof Error) || 'code' in error) throw error;
    return error.message.split('\n')[0] ?? 'solc';
  }
}

/**
 * Returns the name of the failed test. @throws if forge failed without a failed test, which says
 * nothing about the mutation.
 */
function failedTest(output: string): string {
  const name = /\[FAIL[\s\S]*?\b((?:test|invariant|setUp)\w*)\([^)]*\) \(/.exec(output)?.[1];
  if (name === undefined) throw new Error(output);
  return name;
}
