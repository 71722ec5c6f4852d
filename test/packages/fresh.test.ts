import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '../..');
/** A published package and how it is built: as its `npm run build` does. */
const BUILDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  sdk: [['--removeComments'], ['--emitDeclarationOnly']],
  cli: [[]],
  x402: [[]],
  reader: [[]],
};

/** What comes after the compiler. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  sdk: ['minify.mjs'],
  cli: ['bundle.mjs'],
};

for (const [name, passes] of Object.entries(BUILDS)) {
  test(`${name}/dist is what ${name}/src says`, () => {
    const folder = mkdtempSync(path.join(tmpdir(), `tapline-${name}-`));
    const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
    for (const flags of passes) {
      execFileSync(tsc, ['-p', path.join(ROOT, name), '--outDir', folder, ...flags]);
    }
    for (const step of STEPS[name] ?? []) {
      execFileSync(process.execPath, [path.join(ROOT, name, step), folder]);
    }
    const dist = path.join(ROOT, name, 'dist');
    const list = (place: string) => readdirSync(place, { recursive: true }).map(String).sort();
    const files = list(folder);
    assert.ok(files.length > 10);
    assert.deepEqual(list(dist), files);
    for (const file of files.filter((one) => /\.(js|ts|txt)$/.test(one))) {
      const fresh = readFileSync(path.join(folder, file), 'utf8');
      const stale = `${name}/dist/${file} is stale: run npm run build`;
      assert.ok(readFileSync(path.join(dist, file), 'utf8') === fresh, stale);
    }
    rmSync(folder, { recursive: true });
  });
}
