import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import path from 'node:path';
import { openOwn } from '#files/own-files.ts';

/**
 * Replaces a file (mode 0600) by rename, durably: after a crash at any time, the file has either
 * the complete old content or the complete new one. A link of the same name is replaced; its target
 * stays.
 */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const draft = await writeDraft(file, content);
  await fs.rename(draft, file);
  await syncFolder(path.dirname(file));
}

/**
 * Creates a file (mode 0600) with this content unless the file exists. Of concurrent calls, the
 * first one wins.
 */
export async function createFile(file: string, content: string): Promise<void> {
  const draft = await writeDraft(file, content);
  try {
    await fs.link(draft, file);
    await syncFolder(path.dirname(file));
  } catch (cause) {
    acceptExisting(cause);
  } finally {
    await fs.rm(draft, { force: true });
  }
}

export function acceptExisting(cause: unknown): void {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
}

async function writeDraft(file: string, content: string | Uint8Array): Promise<string> {
  const draft = `${file}.${randomBytes(4).toString('hex')}.draft`;
  const handle = await openOwn(draft, 'new');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (cause) {
    // On a full disk, drafts of further attempts would take what room comes free.
    await fs.rm(draft, { force: true });
    throw cause;
  } finally {
    await handle.close();
  }
  return draft;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
