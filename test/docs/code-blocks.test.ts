import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { buildSite } from '#docs/build-docs-site.ts';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PACKAGES = ['README.md', 'sdk/README.md', 'x402/README.md', 'reader/README.md'];
/** Guides, and the examples of the merchant API's reference. */
const PAGES = /^\/docs\/(?!api\/(?:device|payer|pay|dashboard|operator)\/).+\.md$/;

/** Declarations for names from the surrounding text or the reader's own code. */
const GIVEN = `
import type { OutcomeUnknownError as Unknown, Refund, Tapline, WebhookEvent, usdc as Usdc } from 'tapline';
declare global {
  const tapline: Tapline;
  const usdc: typeof Usdc;
  const OutcomeUnknownError: typeof Unknown;
  const id: string;
  const key: string;
  const payment: string;
  const lastSeenId: string;
  let refund: Refund;
  function handle(event: WebhookEvent): void;
}
`;

/**
 * Returns every TypeScript or JavaScript code block, under a file name that identifies its place.
 */
async function allCodeBlocks(): Promise<ReadonlyMap<string, string>> {
  const document = JSON.parse(await readFile(path.join(ROOT, 'openapi.json'), 'utf8'));
  const site = await buildSite({ 'openapi.json': document }, { isSandbox: false });
  const pages = site.filter(({ path }) => PAGES.test(path)).map(({ path, text }) => [path, text]);
  for (const file of PACKAGES) pages.push([file, await readFile(path.join(ROOT, file), 'utf8')]);
  const codeBlocks = new Map<string, string>();
  for (const [page = '', text = ''] of pages) {
    const results = text.matchAll(/^```(?:ts|js)(?: .*)?\n([\s\S]*?)^```$/gm);
    for (const [index, [, code = '']] of [...results].entries()) {
      const name = page.replace(/^\/docs\/|\.md$/g, '').replaceAll('/', '_');
      codeBlocks.set(`${name}-${index + 1}.mts`, `${code}export {};\n`);
    }
  }
  return codeBlocks;
}

test('every code block of every guide compiles in strict TypeScript', async (t) => {
  const folder = testFolder(t);
  const codeBlocks = await allCodeBlocks();
  assert.ok(codeBlocks.size > 40, `${codeBlocks.size} code blocks`);
  for (const [name, code] of codeBlocks) await writeFile(path.join(folder, name), code);
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

test('each receiver in the guide accepts signed messages, and no others', async (t) => {
  const codeBlocks = await allCodeBlocks();
  const receivers = [...codeBlocks].filter(([name, code]) => {
    return name.startsWith('webhooks-') && code.includes('createServer(');
  });
  assert.equal(receivers.length, 2);
  const secret = `whsec_${Buffer.alloc(32, 'code block').toString('base64')}`;
  const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', sequence: 1, data: {} });
  const now = Math.floor(Date.now() / 1000);
  const signed = new Webhook(secret).sign('evt_1', new Date(now * 1000), body);
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': signed,
  };
  const folder = testFolder(t);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [name, code] of receivers) {
    const port = await freePort();
    const file = path.join(folder, name);
    await writeFile(file, code.replace(/listen\(\d+/, `listen(${port}`));
    const env = { ...process.env, TAPLINE_WEBHOOK_SECRET: secret };
    const child = spawn(process.execPath, [file], { env, stdio: 'ignore' });
    try {
      const send = (text: string) =>
        fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: text });
      const isUp = () => send(body).then(Boolean, () => false);
      assert.ok(await waitUntil(isUp, 10_000), name);
      assert.deepEqual([(await send(body)).status, (await send(`${body} `)).status], [200, 400]);
    } finally {
      child.kill('SIGKILL');
    }
  }
});

test('every operation of the merchant API has curl, TypeScript and valid Python', async (t) => {
  const document = JSON.parse(await readFile(path.join(ROOT, 'openapi.json'), 'utf8'));
  const site = await buildSite({ 'openapi.json': document }, { isSandbox: false });
  const pages = site.filter(({ path: page }) => /^\/docs\/api\/[\w-]+\.md$/.test(page));
  const operations = pages
    .flatMap(({ text }) => text.split(/^## /m).slice(1))
    .filter((section) => /^`(?:GET|POST|PATCH|DELETE|PUT) \//m.test(section));
  const python = operations.map((operation) => {
    assert.match(operation, /^```bash\ncurl /m);
    assert.match(operation, /^```ts$/m);
    return /^```python\n([\s\S]*?)^```$/m.exec(operation)?.[1] ?? assert.fail(operation);
  });
  assert.ok(python.length > 30, `${python.length} operations`);
  const stream = operations.find((one) => one.includes('`GET /v1/events/stream`')) ?? '';
  assert.match(stream, /curl -N /);
  assert.match(stream, /for await \(const event of tapline\.events\.stream\(/);
  assert.match(stream, /for line in stream:/);
  const program = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)';
  const ran = spawnSync('python3', ['-c', program], { input: JSON.stringify(python) });
  if (ran.error !== undefined) return t.skip('python3 is not on this machine');
  assert.equal(ran.status, 0, ran.stderr.toString());
});
