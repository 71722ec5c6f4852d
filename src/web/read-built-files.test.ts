import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { compressFiles, FAST } from '#web/compress.ts';
import { readBuilt } from '#web/read-built-files.ts';

const FILES = 40;
const READS = 8;

test('a process starts while another one compresses the same files', async (t) => {
  const folder = testFolder(t);
  for (let number = 0; number < FILES; number++) {
    await writeFile(path.join(folder, `${number}.js`), `// ${number}`.repeat(200));
  }
  let isReading = true;
  const compressing = (async () => {
    while (isReading) await compressFiles(folder, FAST);
  })();
  try {
    for (let read = 0; read < READS; read++) {
      assert.equal((await readBuilt(folder)).size, FILES);
    }
  } finally {
    isReading = false;
    await compressing;
  }
});
