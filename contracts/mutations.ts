// Puts one bug at a time into a copy of the contracts and shows that a forge test notices. `node
// contracts/mutations.ts` runs all of them (about 8 s each), `node contracts/mutations.ts 3 7` only
// these. Exits with 1 when a mutation survives, or no longer applies to the source.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileContract } from './compile.ts';
import { contractsFolder, runForge } from './forge.ts';
import { MUTATIONS, type Mutation } from './mutation-list.ts';

/** Enough for every mutation to be found; the full campaign belongs to contracts.test.ts. */
const SHORT_CAMPAIGN = {
  FOUNDRY_INVARIANT_RUNS: '10',
  FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT: '1',
  FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: join(tmpdir(), 'tapline-mutation-failures'),
  FOUNDRY_FUZZ_RUNS: '64',
};

/** Says how the tests took a mutation: the name of a test that failed, or undefined. */
export async function findCatchingTest(mutation: Mutation): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-mutation-'));
  try {
    cpSync(contractsFolder, folder, {
      recursive: true,
      filter: (path) => path === contractsFolder || path.endsWith('.sol'),
    });
    const path = join(folder, mutation.file);
    writeFileSync(path, mutate(readFileSync(path, 'utf8'), mutation));
    const artifact = compileContract('Settlement', { root: folder, warningsAllowed: true });
    // forge may only read below contracts/; a fresh clone has no such folder yet.
    mkdirSync(join(contractsFolder, 'out'), { recursive: true });
    const artifactPath = join(contractsFolder, 'out', `mutation-${process.pid}.json`);
    writeFileSync(artifactPath, JSON.stringify(artifact));
    const environment = { ...SHORT_CAMPAIGN, ARTIFACT_Settlement: artifactPath };
    const { passed, output } = await runForge(['--fail-fast'], environment);
    rmSync(artifactPath);
    if (passed) return undefined;
    return /\[FAIL[\s\S]*?\b((?:test|invariant)\w*)\([^)]*\) \(/.exec(output)?.[1] ?? output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The source with the mutation in it. Throws when its place is gone or not unique. */
export function mutate(source: string, { name, from, to }: Mutation): string {
  const places = source.split(from).length - 1;
  if (places !== 1) throw new Error(`${name}: found ${places} times, needs exactly 1: ${from}`);
  return source.replace(from, () => to);
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2).map(Number);
  let survivors = 0;
  for (const [index, mutation] of MUTATIONS.entries()) {
    if (wanted.length > 0 && !wanted.includes(index + 1)) continue;
    const caughtBy = await findCatchingTest(mutation);
    if (caughtBy === undefined) survivors++;
    console.log(`${index + 1}. ${mutation.name}: ${caughtBy ?? 'SURVIVED'}`);
  }
  process.exitCode = survivors === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
