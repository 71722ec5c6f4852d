import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The service at an earlier commit, in its own folder. */
export interface EarlierRelease {
  readonly root: string;
  remove(): Promise<void>;
}

/**
 * Checks out an earlier release.
 * @returns `null` if this copy of the repository does not contain the commit (a shallow clone or an
 * archive)
 */
export async function earlierRelease(commit: string): Promise<EarlierRelease | null> {
  const known = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  );
  if (!known) return null;
  const root = await mkdtemp(path.join(tmpdir(), 'tapline-release-'));
  const archive = path.join(root, 'release.tar');
  await run('git', ['archive', '--format=tar', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', root]);
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}
