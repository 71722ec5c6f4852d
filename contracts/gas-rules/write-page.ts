// Measures what each transaction needs, and writes docs/gas-rules.md and needs.json.
//   node contracts/gas-rules/write-page.ts           measures and writes both
//   node contracts/gas-rules/write-page.ts --render  writes the page from needs.json
// Needs Circle's USDC (../test/fiat-token.ts) and the npm registry, for the contracts of Safe.

import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTestNode } from '../test/test-node.ts';
import { type Counted, countTrace } from './count-trace.ts';
import { type Need, reserveFor } from './limits.ts';
import { measurePaths } from './measure-paths.ts';
import { renderPage } from './page.ts';
import { GLAMSTERDAM, OSAKA } from './prices.ts';
import { installSafe } from './safe-contracts.ts';

/** Blocks must hold the largest batch at the prices of Glamsterdam. */
const TRACING = ['--steps-tracing', '--gas-limit', '1000000000'];

function needOf(path: string, counted: Counted): Need {
  return {
    path,
    counts: counted.counts,
    today: counted.needed(OSAKA, reserveFor),
    glamsterdam: { ...counted.used(GLAMSTERDAM), needed: counted.needed(GLAMSTERDAM, reserveFor) },
    pull: { today: counted.largestCall(OSAKA), glamsterdam: counted.largestCall(GLAMSTERDAM) },
  };
}

async function measureNeeds(): Promise<Need[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-gas-rules-'));
  try {
    const safe = await installSafe(folder);
    await using node = await startTestNode(TRACING);
    const measured = await measurePaths(node, safe, (hash) => countTrace(node.client, hash));
    return measured.map(([name, counted]) => needOf(name, counted));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const file = new URL('needs.json', import.meta.url);
if (!process.argv.includes('--render')) {
  writeFileSync(file, `${JSON.stringify(await measureNeeds(), null, 2)}\n`);
}
const needs = JSON.parse(readFileSync(file, 'utf8')) as Need[];
writeFileSync(new URL('../../docs/gas-rules.md', import.meta.url), renderPage(needs));
