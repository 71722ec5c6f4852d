import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/**
 * Files that commands generate and git stores. They must stay small, because reviewers skip them.
 */

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
const MOST_LINES = 42_000;
const MOST_BYTES = 2_300_000;
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
  readonly bytes: number;
}

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((name) => name !== '');

function filesOf(kind: RegExp): File[] {
  return tracked
    .filter((name) => kind.test(name))
    .map((name) => {
      const bytes = readFileSync(path.join(ROOT, name));
      return { name, lines: bytes.toString().trimEnd().split('\n'), bytes: bytes.length };
    });
}

test('generated files have at most 42,000 lines and 2.3 MB', (t) => {
  let lines = 0;
  let bytes = 0;
  for (const [name, kind] of Object.entries(KINDS)) {
    const files = filesOf(kind);
    assert.ok(files.length > 0, `there are no ${name}`);
    const own = files.reduce((sum, file) => sum + file.lines.length, 0);
    const size = files.reduce((sum, file) => sum + file.bytes, 0);
    t.diagnostic(`${name}: ${own} lines, ${size} bytes`);
    lines += own;
    bytes += size;
  }
  t.diagnostic(`all: ${lines} lines, ${bytes} bytes`);
  assert.ok(lines <= MOST_LINES, `${lines} lines`);
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
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
