import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closed,
  closedPackage,
  nextVersion,
  sectionOf,
  whyEmpty,
  whyNotReleased,
} from '#release/versions-and-changelogs.ts';

const OPEN = `# Changelog

## v1.0.0-rc.2, not released yet

- A new report.

## v1.0.0-rc.1, 2026-11-28

- Everything.
`;

test('the version of a release is the one that the changelog opens', () => {
  assert.equal(nextVersion(OPEN), '1.0.0-rc.2');
  assert.equal(nextVersion('# Changelog\n\n## v1.0.0, 2026-12-01\n'), null);
});

test('a version is released once, and after those before it', () => {
  const why = (version: string, tags: readonly string[] = ['v1.0.0-rc.1', 'tapline-v9.0.0']) =>
    whyNotReleased(version, { changelog: OPEN, tags });
  for (const version of ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.0.1', '2.0.0-rc.1']) {
    assert.equal(why(version), null, version);
  }
  assert.equal(why('1.0.0-rc.1'), '1.0.0-rc.1 is not after 1.0.0-rc.1.');
  assert.equal(why('0.9.9'), '0.9.9 is not after 1.0.0-rc.1.');
  assert.equal(why('1.0.0-rc.2', ['v1.0.0-rc.2']), '1.0.0-rc.2 is not after 1.0.0-rc.2.');
  assert.equal(why('1.0.0-rc.2', ['v1.0.0']), '1.0.0-rc.2 is not after 1.0.0.');
  for (const version of ['', '1.0', 'v1.0.0', '1.0.0-beta.1']) {
    assert.match(why(version) ?? '', /is not a version; write 1\.0\.0 or 1\.0\.0-rc\.1\./, version);
  }
});

test('a section without entries, and no open section, are refused', () => {
  const tags: readonly string[] = [];
  const empty = OPEN.replace('- A new report.\n', '');
  const why = (changelog: string) => whyNotReleased('1.0.0-rc.2', { changelog, tags });
  assert.equal(why(empty), 'The section v1.0.0-rc.2 has no entries.');
  assert.match(why(closed(OPEN, 'v1.0.0-rc.2, 2026-12-01')) ?? '', /has no section/);
});

test('a closed section has the date, and its entries are found under that name', () => {
  const text = closed(OPEN, 'v1.0.0-rc.2, 2026-12-01');
  assert.match(text, /^## v1\.0\.0-rc\.2, 2026-12-01$/m);
  assert.equal(sectionOf(text, 'v1.0.0-rc.2, 2026-12-01'), '- A new report.');
  assert.equal(sectionOf(text, 'v1.0.0-rc.1, 2026-11-28'), '- Everything.');
});

test('a page without an open section, or with an empty one, is refused in words', () => {
  const name = 'v1.0.0-rc.2, 2026-12-01';
  const why = (page: string) => whyEmpty('docs/guides/upgrading.md', closed(page, name), name);
  assert.equal(why(OPEN), null);
  const refused = /^docs\/guides\/upgrading\.md has no section with entries for v1\.0\.0-rc\.2 /;
  for (const page of [
    '# Steps\n\n## v1.0.0-rc.1, 2026-11-28\n\n- One.\n',
    OPEN.replace('- A new report.\n', ''),
  ]) {
    assert.match(why(page) ?? '', refused, page);
  }
});

test('the open entries of a package move to its current version', () => {
  const of = (text: string) => closedPackage(`# Changes\n\n${text}`, '0.1.0');
  assert.equal(of('## 0.1.0 (unreleased)\n\n- a\n'), '# Changes\n\n## 0.1.0\n\n- a\n');
  assert.equal(of('## Unreleased\n\n- a\n'), '# Changes\n\n## 0.1.0\n\n- a\n');
  assert.equal(
    of('## Unreleased\n\n- a\n\n## 0.1.0\n\n- b\n'),
    '# Changes\n\n## 0.1.0\n\n- a\n- b\n',
  );
  assert.equal(of('## Unreleased\n\n## 0.1.0\n\n- b\n'), '# Changes\n\n## 0.1.0\n\n- b\n');
  assert.equal(of('## 0.1.0\n\n- b\n'), '# Changes\n\n## 0.1.0\n\n- b\n');
});
