import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';

/** Writes the OpenAPI documents. With `--check` it ends with 1 when one of them is stale. */
const ROOT = path.join(import.meta.dirname, '../..');

for (const [name, document] of Object.entries(surfaceDocuments(declaredRoutes()))) {
  const file = path.join(ROOT, name);
  const fresh = `${JSON.stringify(document, null, 2)}\n`;
  if (!process.argv.includes('--check')) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, fresh);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== fresh) {
    console.error(`${name} is stale: run npm run openapi`);
    process.exitCode = 1;
  }
}
