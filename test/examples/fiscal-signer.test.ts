import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../examples/fiscal-signer.mjs');

const file = path.join(testFolder(), 'chain.jsonl');
let signer: { readonly child: ChildProcess; readonly url: string };

async function start() {
  const env = { ...process.env, SIGNER_KEY: 'secret', SIGNER_FILE: file, EXAMPLE_PORT: '0' };
  const child = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, url: /http:\S+/.exec(String(line))?.[0] ?? '' };
}

async function stop(): Promise<void> {
  const ended = once(signer.child, 'exit');
  signer.child.kill('SIGKILL');
  await ended;
}

before(async () => {
  signer = await start();
});
after(stop);

async function post(body: string) {
  const response = await fetch(signer.url, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const sign = (id: string) => post(JSON.stringify({ id, receipt_number: id, amount: 2_500_000 }));
const verify = async () =>
  (await fetch(new URL('/verify', signer.url))).json() as Promise<{ first_broken: unknown }>;

test('the same receipt keeps its signature, even if the signer was killed', async () => {
  const first = await sign('fis_1');
  assert.deepEqual([first.status, first.body.text], [200, 'Signed as number 1']);
  assert.deepEqual(await sign('fis_1'), first);
  const second = await sign('fis_2');
  assert.notEqual(second.body.signature, first.body.signature);
  await stop();
  signer = await start();
  assert.deepEqual(await sign('fis_1'), first);
  assert.equal((await sign('fis_3')).body.text, 'Signed as number 3');
  assert.deepEqual(await verify(), { entries: 3, first_broken: null });
});

test('a page of another site adds nothing to the chain', async () => {
  const headers = { Origin: 'https://page.example' };
  const body = JSON.stringify({ id: 'fis_page', receipt_number: 'fis_page', amount: 1 });
  assert.equal((await fetch(signer.url, { method: 'POST', headers, body })).status, 403);
  assert.equal((await verify()).first_broken, null);
});

test('changing or removing an entry breaks the hash chain there', async () => {
  await stop();
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const broken = [
    [lines[0], lines[1]?.replace('2500000', '2500001'), lines[2]],
    [lines[0], lines[2]],
  ];
  for (const chain of broken) {
    writeFileSync(file, `${chain.join('\n')}\n`);
    signer = await start();
    assert.equal((await verify()).first_broken, 2);
    await stop();
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
  signer = await start();
});

test('input that is not a receipt is not signed', async () => {
  for (const body of ['{', '{}', 'null', `"${'x'.repeat(300_000)}"`]) {
    assert.equal((await post(body)).status, 400, body.slice(0, 20));
  }
});
