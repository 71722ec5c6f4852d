import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildRoot, whyNoRoot } from '#release/build-container-image.ts';
import { git } from '#release/git.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const run = promisify(execFile);
const DOCKERFILE = `FROM base
WORKDIR /app
RUN mkdir /data /signer-certificates && env > seen.txt && echo > /dev/null
RUN for place in /etc /usr; do if touch $place/of-release 2> /dev/null; then exit 9; fi; done
`;
const folder = testFolder();

test('a stage sees no secret of the shell, and cannot change this machine', async (t) => {
  const why = await whyNoRoot();
  if (why !== null) return t.skip(why);
  await mkdir(path.join(folder, 'deploy/container'), { recursive: true });
  await writeFile(path.join(folder, 'deploy/container/Dockerfile'), DOCKERFILE);
  await writeFile(path.join(folder, '.dockerignore'), '*\n');
  await git(folder, ['init', '-q']);
  process.env.SECRET_OF_SHELL = 'secret';
  process.env.https_proxy = 'http://proxy.test:1';
  t.after(() => {
    delete process.env.SECRET_OF_SHELL;
    delete process.env.https_proxy;
  });
  const options = { folder, out: folder, version: '1.0.0', revision: 'abc', base: null };
  const { file } = await buildRoot(options);
  const target = path.join(folder, file);
  const { stdout } = await run('tar', ['-xzOf', target, 'app/seen.txt']);
  assert.match(stdout, /^https_proxy=http:\/\/proxy\.test:1$/m);
  assert.match(stdout, /^HOME=\/opt\/release\/home$/m);
  assert.doesNotMatch(stdout, /SECRET_OF_SHELL/);
  for (const name of ['/etc/of-release', '/usr/of-release']) await assert.rejects(access(name));
});
