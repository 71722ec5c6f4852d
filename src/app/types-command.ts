import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { typescriptOf } from './typescript-types.ts';

/**
 * Writes the TypeScript types of the SDK and the screens from the OpenAPI documents in this folder.
 * With `--check` it ends with 1 when one of them is stale.
 */
const ROOT = path.join(import.meta.dirname, '../..');

/** A document and the file that its types go to. */
const TYPES: Readonly<Record<string, string>> = {
  'openapi.json': 'sdk/src/types.ts',
  'openapi/device.json': 'web/data/types/device.ts',
  'openapi/payer.json': 'web/data/types/payer.ts',
  'openapi/pay.json': 'web/data/types/pay.ts',
  'openapi/dashboard.json': 'web/data/types/dashboard.ts',
  'openapi/operator.json': 'web/data/types/operator.ts',
};

for (const [source, target] of Object.entries(TYPES)) {
  const document = JSON.parse(await readFile(path.join(ROOT, source), 'utf8'));
  const file = path.join(ROOT, target);
  const fresh = typescriptOf(document, source);
  if (!process.argv.includes('--check')) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, fresh);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== fresh) {
    console.error(`${target} is stale: run npm run types`);
    process.exitCode = 1;
  }
}
