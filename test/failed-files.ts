import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A reporter: the files of tests that failed, one on each line, each once. */
export default async function* failedFiles(source: AsyncIterable<TestEvent>) {
  const seen = new Set<string>();
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.file === undefined || data.todo) continue;
    const file = relative(process.cwd(), data.file);
    if (seen.has(file)) continue;
    seen.add(file);
    yield `${file}\n`;
  }
}
