import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { contextFilter, stagesOf } from '#release/dockerfile.ts';

const ROOT = path.join(import.meta.dirname, '../..');

const read = (name: string) => readFile(path.join(ROOT, name), 'utf8');

test('the stages of the Dockerfile are read as an engine reads them', async () => {
  const stages = stagesOf(await read('deploy/container/Dockerfile'));
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['build', ''],
  );
  const [build, last] = stages;
  const runs = build?.instructions.filter(({ name }) => name === 'RUN') ?? [];
  assert.match(runs[0]?.words ?? '', /^npm ci --omit=dev/);
  assert(runs.every(({ words }) => !words.includes('\\') || words.includes('\\(')));
  assert(last?.instructions.some(({ words }) => words === '--from=build /app /app'));
});

test('the build sees the files of .dockerignore, and no others', async () => {
  const isSeen = contextFilter(await read('.dockerignore'));
  for (const file of ['package.json', '.env.example', 'src/app/any.ts', 'python/tapline/x.py']) {
    assert(isSeen(file), file);
  }
  for (const file of [
    ...['test/any.ts', 'README.md', '.env', 'python/test_tapline.py', 'src/core/any.test.ts'],
    ...['sdk/node_modules/x/index.js', 'testkit/apis/any.ts', 'deploy/container/worker.env'],
    ...['contracts/cache/x', 'package.json.old'],
  ]) {
    assert(!isSeen(file), file);
  }
});
