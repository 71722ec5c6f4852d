import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { declaredMerchantRoutes } from '#declared-routes.ts';
import { merchantDocument } from '#merchant-document.ts';

/** `npm run openapi` writes openapi.json; with `--check` it ends with 1 when the file is stale. */
const FILE = path.join(import.meta.dirname, '../../openapi.json');

const fresh = `${JSON.stringify(merchantDocument(declaredMerchantRoutes()), null, 2)}\n`;
if (process.argv.includes('--check')) {
  const stored = await readFile(FILE, 'utf8').catch(() => '');
  if (stored !== fresh) {
    console.error('openapi.json is stale: run npm run openapi');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, fresh);
}
