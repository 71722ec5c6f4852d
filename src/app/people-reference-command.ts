import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOTS } from '#apis/dashboard/surface.ts';
import { declaredRoutes } from '#app/declared-routes.ts';
import { peopleReference, type Reference, withMovesTable } from '#app/people-reference.ts';

/**
 * `npm run people-reference` writes docs/dashboard-api.md, docs/operator-api.md and the table of
 * routes in SECURITY.md; with `--check` it ends with 1 when one of them is stale.
 */
const ROOT = path.join(import.meta.dirname, '../..');

const INTRODUCTION =
  'JSON over HTTPS from a page of the service: `POST /session` sets the session cookie ' +
  '(HttpOnly, SameSite=Strict), and every change sends the `csrf_token` of `GET /session` as the ' +
  'header `Csrf-Token`. Errors are those of the merchant API, with `session_missing` (401), ' +
  '`csrf_token_invalid`, `role_missing` and `second_factor_required` (403) wherever they apply, ' +
  'and 404 `resource_missing` for an object that does not exist or belongs to somebody else. An ' +
  'edit names the `version` that it is based on; a stale one is answered with 409 ' +
  '`version_conflict`, and nothing is saved. "For" says who may call a route. **public**: ' +
  'anybody. **half_signed_in**: after the password, also before the second factor. ' +
  '**signed_in**: every user.';

const routes = declaredRoutes();
const files: Readonly<Record<string, Reference>> = {
  'dashboard-api.md': {
    title: 'Dashboard API',
    introduction:
      `${INTRODUCTION} A role: people with that role in the account, or a higher one (owner > ` +
      'admin > member > viewer). `{mode}` is `test` or `live`. Routes that the merchant API has ' +
      'too run the same code; their objects are described in the API reference at `/docs`.',
    root: ROOTS.merchant,
    routes: routes.dashboard,
  },
  'operator-api.md': {
    title: 'Operator API',
    introduction:
      `${INTRODUCTION} **operator**: the network’s staff with a proven second factor; support ` +
      'staff may only read. **support**: the same, and support staff too.',
    root: ROOTS.operator,
    routes: routes.operator,
  },
};

async function bringUp(name: string, freshen: (text: string) => string): Promise<void> {
  const file = path.join(ROOT, name);
  const text = await readFile(file, 'utf8').catch(() => '');
  const fresh = freshen(text);
  if (fresh === text) return;
  if (!process.argv.includes('--check')) return writeFile(file, fresh);
  console.error(`${name} is stale: run npm run people-reference`);
  process.exitCode = 1;
}

for (const [name, reference] of Object.entries(files)) {
  await bringUp(`docs/${name}`, () => peopleReference(reference));
}
await bringUp('SECURITY.md', (text) => withMovesTable(text, routes));
