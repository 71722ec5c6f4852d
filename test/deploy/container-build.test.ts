import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Root, runIn, runStages, whyNoRoot } from '#release/build-container-image.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Returns the folders that `npm ci --omit=dev` does not install. */
async function devPackages(): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'package-lock.json'), 'utf8');
  const packages: Record<string, { dev?: boolean }> = JSON.parse(text).packages;
  return Object.keys(packages).filter((name) => packages[name]?.dev === true);
}

/** Puts the packages of this checkout where `npm ci --omit=dev` installs them. */
async function install({ place: target, folder }: Root): Promise<void> {
  const app = path.join(target, folder);
  for (const part of ['', 'sdk', 'cli', 'x402', 'reader']) {
    const source = path.join(ROOT, part, 'node_modules');
    const names = (await readdir(source).catch(() => [])).filter((name) => !name.startsWith('.'));
    if (names.length === 0) continue;
    const to = path.join(app, part, 'node_modules');
    await mkdir(to);
    await run('cp', ['-al', ...names.map((name) => path.join(source, name)), to]);
  }
  for (const name of await devPackages()) {
    await rm(path.join(app, name), { recursive: true, force: true });
  }
}

test('the image can be built: each COPY and RUN line works, the two installs apart', async (t) => {
  const why = await whyNoRoot();
  if (why !== null) return t.skip(why);
  // On the file system of node_modules, because its files are hard-linked.
  const target = await mkdtemp(path.join(ROOT, 'node_modules/.image-'));
  t.after(() => rm(target, { recursive: true, force: true, maxRetries: 5 }));
  const skipped: string[] = [];
  const root = await runStages(ROOT, target, async (stage, command) => {
    if (!/^npm (ci|run walletconnect)\b/.test(command)) return runIn(stage, command);
    skipped.push(command);
    if (command.startsWith('npm ci')) await install(stage);
  });
  assert.equal(skipped.length, 2);
  const apps = await readdir(path.join(root, 'app/node_modules/.cache'), { recursive: true });
  assert(apps.some((name) => path.basename(name) === 'terminal.html'));
  for (const name of ['data', 'signer-certificates']) await readdir(path.join(root, name));
});
