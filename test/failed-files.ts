import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A test reporter that prints each test file with a failure once, one per line. */
export default async function* failedFiles(source: AsyncIterable<TestEvent>) {
  const seen = new Set<string>();
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.file === undefined || data.todo) continue;
    for (const file of filesOf(data.file, data.name)) {
      if (seen.has(file)) continue;
      seen.add(file);
      yield `${file}\n`;
    }
  }
}

/**
 * Returns the test files of an entry. In a group, each file is a suite with its name. If the
 * process itself died, all of the group's files failed.
 */
function filesOf(entry: string, name: string): readonly string[] {
  const file = relative(process.cwd(), entry);
  if (!file.startsWith('node_modules')) return [file];
  if (name.endsWith('.test.ts')) return [name];
  const suites = readFileSync(entry, 'utf8').matchAll(/^describe\("([^"]+)"/gm);
  return [...suites].map(([, suite = '']) => suite);
}
