import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A reporter: the files of tests that failed, one on each line, each once. */
export default async function* failedFiles(source: AsyncIterable<TestEvent>) {
  const seen = new Set<string>();
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.file === undefined || data.todo) continue;
    const file = relative(process.cwd(), data.file);
    // A group fails with its file, which is named by itself.
    if (seen.has(file) || file.startsWith('node_modules')) continue;
    seen.add(file);
    yield `${file}\n`;
  }
}
