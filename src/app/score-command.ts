import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Minimum score from the linter, which rates how well programs can navigate the document. Reports
 * of shifts cost a part of a point: their figures are nested nine deep.
 */
const WANTED = 89;
const ROOT = path.join(import.meta.dirname, '../..');
const REDOCLY = path.join(ROOT, 'node_modules/.bin/redocly');
const others = readdirSync(path.join(ROOT, 'openapi'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => `openapi/${name}`);

let failed = false;
for (const name of ['openapi.json', ...others]) {
  const options = { cwd: ROOT, encoding: 'utf8' as const };
  const json = execFileSync(REDOCLY, ['score', name, '--format', 'json'], options);
  const { agentReadiness: score } = JSON.parse(json) as { agentReadiness: number };
  console.log(`${name}: ${score} (at least ${WANTED})`);
  failed ||= score < WANTED;
}
process.exitCode = failed ? 1 : 0;
