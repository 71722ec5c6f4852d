import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildSite } from '#docs/site.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PACKAGES = ['sdk/README.md', 'x402/README.md', 'reader/README.md'];
/** Guides, and the examples of the merchant API's reference. */
const PAGES = /^\/docs\/(?!api\/(?:device|payer|pay|dashboard|operator)\/).+\.md$/;

/** What the text around a fence has made already, or what is the reader's own. */
const GIVEN = `
import type { OutcomeUnknownError as Unknown, Refund, Tapline, WebhookEvent, usdc as Usdc } from 'tapline';
declare global {
  const tapline: Tapline;
  const usdc: typeof Usdc;
  const OutcomeUnknownError: typeof Unknown;
  const request: Request;
  const rawBody: string;
  const id: string;
  const key: string;
  const payment: string;
  const lastSeenId: string;
  let refund: Refund;
  function markPaid(orderId: string | null): void;
  function handle(event: WebhookEvent): void;
}
`;

/** Every fence of TypeScript or JavaScript, by a file name that says where it stands. */
async function allFences(): Promise<ReadonlyMap<string, string>> {
  const document = JSON.parse(await readFile(path.join(ROOT, 'openapi.json'), 'utf8'));
  const site = await buildSite({ 'openapi.json': document }, { isSandbox: false });
  const pages = site.filter(({ path }) => PAGES.test(path)).map(({ path, text }) => [path, text]);
  for (const file of PACKAGES) pages.push([file, await readFile(path.join(ROOT, file), 'utf8')]);
  const fences = new Map<string, string>();
  for (const [page = '', text = ''] of pages) {
    const found = text.matchAll(/^```(?:ts|js)(?: .*)?\n([\s\S]*?)^```$/gm);
    for (const [index, [, code = '']] of [...found].entries()) {
      const name = page.replace(/^\/docs\/|\.md$/g, '').replaceAll('/', '_');
      fences.set(`${name}-${index + 1}.mts`, `${code}export {};\n`);
    }
  }
  return fences;
}

test('every fence of every guide compiles in strict TypeScript', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-fences-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const fences = await allFences();
  assert.ok(fences.size > 40, `${fences.size} fences`);
  for (const [name, code] of fences) await writeFile(path.join(folder, name), code);
  await writeFile(path.join(folder, 'given.mts'), GIVEN);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const lib = ['--target', 'es2023', '--lib', 'es2023,dom,dom.iterable,dom.asynciterable'];
  const modules = ['--module', 'nodenext', '--types', 'node', '--ignoreConfig'];
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mts'));
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const all = [...strict, ...lib, ...modules, ...names];
  await promisify(execFile)(tsc, all, { cwd: folder }).catch((error: { stdout: string }) => {
    assert.fail(error.stdout);
  });
});
