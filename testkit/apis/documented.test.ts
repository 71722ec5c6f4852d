import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

/** Tests the check on a copy of the sources, so that it can change them. */

const ROOT = path.join(import.meta.dirname, '../..');
const CHECK = 'testkit/apis/documented.ts';
/** Copied; the rest of the tree is linked. */
const COPIED = ['src', 'testkit', 'openapi', 'openapi.json'];
/** Declares routes of the dashboard. In parts, because not only its changes matter here. */
const ROUTE = path.join('src', 'apis', 'dashboard', 'account', 'brand-routes.ts');

const copy = testFolder();
const inCopy = (name: string) => path.join(copy, name);

async function copyTree(): Promise<void> {
  for (const name of await readdir(ROOT)) {
    if (COPIED.includes(name)) await cp(path.join(ROOT, name), inCopy(name), { recursive: true });
    else await symlink(path.join(ROOT, name), inCopy(name));
  }
}

/** Imports the check. @returns the error's message, or an empty string */
async function importCheck(): Promise<string> {
  const program = `await import(${JSON.stringify(inCopy(CHECK))})`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return run.then(
    () => '',
    (error) => String(error.stderr),
  );
}

test('a stale or missing document fails the import of the check, before any response', async () => {
  await copyTree();
  assert.equal(await importCheck(), '', 'the documents are as the routes declare them');

  const source = await readFile(inCopy(ROUTE), 'utf8');
  await writeFile(inCopy(ROUTE), source.replace("summary: '", "summary: 'Changed: "));
  assert.match(await importCheck(), /openapi\/dashboard\.json is stale: run npm run openapi/);

  await rm(inCopy('openapi/dashboard.json'));
  assert.match(await importCheck(), /openapi\/dashboard\.json is missing: run npm run openapi/);
});
