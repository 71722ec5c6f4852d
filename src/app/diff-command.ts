import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { breaks, shapeOf } from '#app/contract-shape.ts';
import { declaredMerchantRoutes } from '#app/declared-routes.ts';
import { merchantDocument } from '#app/merchant-document.ts';
import type { Doc } from '#http/openapi-schemas.ts';

/**
 * `node src/app/diff-command.ts`: fails when the merchant API breaks what clients of the last
 * release rely on (docs/behavior.md 18). `--release` writes down what they rely on from now on; a
 * release does that. The linter's own diff calls a path that went away a patch.
 */
const RELEASED = path.join(import.meta.dirname, '../../docs/released/merchant-api.json');
/** A file that was read as nothing would pass everything. */
const LEAST_LINES = 500;

async function readReleased() {
  const { promises, demands } = JSON.parse(await readFile(RELEASED, 'utf8')) as Record<
    'promises' | 'demands',
    string[]
  >;
  if (promises.length < LEAST_LINES) throw new Error(`${RELEASED} is too short`);
  return { promises: new Set(promises), demands: new Set(demands) };
}

const [option, file] = process.argv.slice(2);
const document: Doc =
  file === undefined
    ? merchantDocument(declaredMerchantRoutes())
    : JSON.parse(await readFile(file, 'utf8'));
const shape = shapeOf(document);
if (option === '--release') {
  const text = JSON.stringify(
    { promises: [...shape.promises].sort(), demands: [...shape.demands].sort() },
    null,
    2,
  );
  await writeFile(RELEASED, `${text}\n`);
} else {
  const broken = breaks(await readReleased(), shape);
  for (const line of broken) console.error(line);
  console.log(`${shape.promises.size} promises of the merchant API, ${broken.length} broken`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
