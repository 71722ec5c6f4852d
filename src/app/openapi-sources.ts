import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * A hash of the sources beside the documents that were made from them. Tests read the documents
 * from disk, because a test that builds them imports every route.
 */
const SOURCES = path.join(import.meta.dirname, '..');
const STAMP = path.join(SOURCES, '../openapi/sources.sha256');
/** Lower bound that detects a search in the wrong place. */
const FEWEST_FILES = 500;

/** Takes 50 ms. */
function sourcesHash(): string {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort();
  if (names.length < FEWEST_FILES) throw new Error(`only ${names.length} sources were seen`);
  const hash = createHash('sha256');
  for (const name of names) hash.update(name).update(readFileSync(path.join(SOURCES, name)));
  return hash.digest('hex');
}

/** Returns whether no source has changed since the documents were last compared with them. */
export function areSourcesUnchanged(): boolean {
  try {
    return readFileSync(STAMP, 'utf8') === sourcesHash();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

export function stampDocuments(): void {
  writeFileSync(STAMP, sourcesHash());
}
