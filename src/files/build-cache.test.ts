import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { runBuild } from '#files/build-cache.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const folder = testFolder();
const APPS = { what: 'the web apps', command: 'src/web/build-command.ts' };

test('a build that takes too long is named, with the setting that gives it more time', async () => {
  const built = runBuild(APPS, path.join(folder, 'apps'), 1);
  await assert.rejects(built, (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^the web apps were not built within 0 s.* SANDBOX_START_SECONDS/);
    return true;
  });
});
