import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { declaredRoutes } from '#app/declared-routes.ts';
import { goModelsOf } from '#app/go-types.ts';
import { withMovesTable } from '#app/money-moves-table.ts';
import { stampDocuments } from '#app/openapi-sources.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';
import { typescriptModules, typescriptOf } from '#app/typescript-types.ts';

/**
 * Writes the OpenAPI documents, the TypeScript and Go types generated from them, and the table of
 * routes in docs/moves.md. With `--check`, writes only files that are not committed, and exits with
 * 1 if a committed one is stale. With `--fresh`, writes none of them, and exits with 1 if a
 * document is stale. `--types <folder>` is the folder for the types of all APIs except
 * the merchant's: one file per API, and one for the types that they share.
 */
const ROOT = path.join(import.meta.dirname, '../..');
/** These files are committed, so that a diff shows how a release changes its promises. */
const COMMITTED = ['openapi.json', 'sdk/src/types.ts', 'go/models.go', 'docs/moves.md'];

async function freshFiles(typesFolder: string): Promise<Map<string, string>> {
  const routes = declaredRoutes();
  const documents = Object.entries(surfaceDocuments(routes));
  const moves = await readFile(path.join(ROOT, 'docs/moves.md'), 'utf8');
  const texts = documents.map(
    ([name, one]) => [name, `${JSON.stringify(one, null, 2)}\n`] as const,
  );
  const [[merchant, ownDocument] = ['', {}], ...inner] = documents;
  const web = inner.map(([name, document]) => [path.basename(name, '.json'), document] as const);
  const modules = typescriptModules(new Map(web));
  return new Map([
    ...texts,
    ['sdk/src/types.ts', typescriptOf(ownDocument, merchant)],
    ['go/models.go', goModelsOf(ownDocument, merchant)],
    ['docs/moves.md', withMovesTable(moves, routes)],
    ...[...modules].map(([name, text]) => [`${typesFolder}/${name}.ts`, text] as const),
  ]);
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, fresh: { type: 'boolean' }, types: { type: 'string' } },
});
if (values.types === undefined) throw new Error('--types <folder> is missing');
const isCheck = values.check === true;
for (const [name, fresh] of await freshFiles(values.types)) {
  const file = path.join(ROOT, name);
  if ((await readFile(file, 'utf8').catch(() => null)) === fresh) continue;
  if (values.fresh && !name.endsWith('.json')) continue;
  if (values.fresh || (isCheck && COMMITTED.includes(name))) {
    console.error(`${name} is stale: run npm run openapi`);
    process.exitCode = 1;
    continue;
  }
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, fresh);
}
if (process.exitCode === undefined) stampDocuments();
