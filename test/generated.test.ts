import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Files that commands generate and git stores. Reviewers skip them. */

const ROOT = path.join(import.meta.dirname, '..');
const KINDS: Readonly<Record<string, RegExp>> = {
  lockfiles: /(^|\/)package-lock\.json$/,
  'contract artifacts': /^contracts\/artifacts\/|^contracts\/gas\.json$/,
  'results of mutations': /(^|\/)mutations\/(results\.json|README\.md)$/,
  'OpenAPI document': /^openapi\.json$/,
  'released API': /^docs\/released\//,
  'types of clients': /^(sdk\/src\/types\.ts|go\/models\.go)$/,
  'pages and settings': /^(\.env\.example|docs\/settings\.md|docs\/guides\/api-changes\.md)$/,
};
/** A longer line is unreadable in a diff. */
const COLUMNS = 400;
/**
 * Files that may have longer lines: each line holds one item and is only ever replaced as a whole.
 */
const LONG_LINES =
  /^contracts\/artifacts\/|\/mutations\/|^docs\/(released\/|settings\.md$)|\/package-lock\.json$/;

interface File {
  readonly name: string;
  readonly lines: readonly string[];
}

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((name) => name !== '');

function filesOf(kind: RegExp): File[] {
  return tracked
    .filter((name) => kind.test(name))
    .map((name) => {
      const text = readFileSync(path.join(ROOT, name), 'utf8');
      return { name, lines: text.trimEnd().split('\n') };
    });
}

test('each kind of generated file is seen', () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    assert.ok(filesOf(kind).length > 0, `there are no ${name}`);
  }
});

test('their lines are short, unless a line is one item', () => {
  const long = Object.values(KINDS)
    .flatMap(filesOf)
    .filter(({ name }) => !LONG_LINES.test(name))
    .flatMap(({ name, lines }) =>
      lines.flatMap((line, at) => (line.length > COLUMNS ? [`${name}:${at + 1}`] : [])),
    );
  assert.deepEqual(long, []);
});

test('no build output is committed', () => {
  const built = tracked.filter((name) => /(^|\/)(dist|\.cache|node_modules)\//.test(name));
  assert.deepEqual(built, []);
});
