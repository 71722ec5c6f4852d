import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './mutation.ts';

const MARKER = '<!-- The rest is written by ';

/** Writes the results table at the end of a README.md. */
export function writeTable(
  readme: string,
  results: readonly Result[],
  run: { readonly seed: number; readonly left: number },
): void {
  const text = readFileSync(readme, 'utf8');
  const head = text.slice(0, text.indexOf('\n', text.indexOf(MARKER)));
  writeFileSync(readme, `${head}\n\n${render(results, run)}`);
}

function render(
  results: readonly Result[],
  { seed, left }: { readonly seed: number; readonly left: number },
): string {
  const tally = Map.groupBy(results, ({ verdict }) => verdict);
  const counts = [...tally].map(([verdict, all]) => `${all.length} ${verdict}`).join(', ');
  const rows = results.map((one) =>
    ['', one.origin, place(one), change(one), one.verdict, cell(one.by), ''].join(' | ').trim(),
  );
  return [
    `Seed ${seed}: ${results.length} mutations judged (${counts}), ${left} not judged yet.`,
    '',
    '| origin | where | what | verdict | by |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function place({ file, line }: Result): string {
  return `\`${file}:${line}\``;
}

function change({ origin, name, from, to }: Result): string {
  return origin === 'hand' ? name : `${name}: \`${cell(from)}\` → \`${cell(to)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
}
