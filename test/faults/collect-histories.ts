import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type History, toHistories, toText } from '#testkit/fixtures/settlement/step-history.ts';

// node test/faults/collect-histories.ts <folder of STEP_HISTORY> <file>
// Selects recorded histories with something new: a phase, an observation, and the next phase and
// effects to which it led, in a combination that no selected history has. The longest come first.

/** Few enough for a person to review and for the repository to store. */
const MOST_ENTRIES = 150;

const [folder = '', target = ''] = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const files = names.filter((name) => name.endsWith('.jsonl')).sort();
const all = files.flatMap((name) => {
  const lines = readFileSync(path.join(folder, name), 'utf8').split('\n');
  // A killed process may have left an incomplete line.
  return toHistories(lines.filter((line) => line.endsWith('}')));
});

function factsOf({ start, entries }: History): string[] {
  let phase = start.phase;
  return entries.map((entry) => {
    const effects = entry.effects.map(({ kind }) => kind).join();
    const fact = `${phase} ${entry.observation.kind} ${entry.phase} ${effects}`;
    phase = entry.phase;
    return fact;
  });
}

const seen = new Set<string>();
const kept = all
  .filter(({ entries }) => entries.length <= MOST_ENTRIES)
  .sort((a, b) => b.entries.length - a.entries.length)
  .filter((history) => {
    const fresh = factsOf(history).filter((fact) => !seen.has(fact));
    for (const fact of fresh) seen.add(fact);
    return fresh.length > 0;
  });
writeFileSync(target, kept.map((history) => `${toText(history)}\n`).join(''));
const steps = all.reduce((sum, { entries }) => sum + entries.length, 0);
console.log(
  `${all.length} histories of ${steps} steps, ${kept.length} kept: ${seen.size} passages`,
);
