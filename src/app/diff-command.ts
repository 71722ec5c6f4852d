import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { asReleased, changesSince, withChanges } from '#app/api-changes.ts';
import { breaks, shapeFrom, shapeOf, textOf } from '#app/api-contract-shape.ts';
import { declaredMerchantRoutes } from '#app/declared-routes.ts';
import { merchantDocument } from '#app/merchant-document.ts';

/**
 * `node src/app/diff-command.ts`: fails if the merchant API breaks what clients of the last release
 * rely on (docs/behavior.md 18), or if the page of changes is stale. `--write` regenerates that
 * page. `--release 'v0.2.0, 2026-12-01'` records what clients rely on from now on, and closes the
 * page's section. The linter's own diff is not used, because it calls a removed path a patch.
 */
const PAGE = path.join(import.meta.dirname, '../../docs/guides/api-changes.md');
const RELEASED = path.join(import.meta.dirname, '../../docs/released/merchant-api.json');
/**
 * Minimum number of promises in a valid file: a file that was parsed as empty would pass every
 * check.
 */
const LEAST_PROMISES = 500;

async function readReleased() {
  const shape = shapeFrom(await readFile(RELEASED, 'utf8'));
  if (shape.promises.size < LEAST_PROMISES) throw new Error(`${RELEASED} is too short`);
  return shape;
}

const [option, argument] = process.argv.slice(2);
const document = merchantDocument(declaredMerchantRoutes());
const shape = shapeOf(document);
const before = await readReleased();
const page = await readFile(PAGE, 'utf8').catch(() => '');
const changes = changesSince(before, shape, document);
if (option === '--release') {
  if (argument === undefined) throw new Error("--release needs a name: 'v0.2.0, 2026-12-01'");
  await writeFile(PAGE, asReleased(page, argument, changes));
  await writeFile(RELEASED, textOf(shape));
} else if (option === '--write') {
  await writeFile(PAGE, withChanges(page, changes));
} else {
  const broken = breaks(before, shape);
  for (const line of broken) console.error(line);
  const isStale = withChanges(page, changes) !== page;
  if (isStale) console.error('docs/guides/api-changes.md is stale: run npm run api-changes');
  console.log(`${shape.promises.size} promises of the merchant API, ${broken.length} broken`);
  process.exitCode = broken.length === 0 && !isStale ? 0 : 1;
}
