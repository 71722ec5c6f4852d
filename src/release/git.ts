import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const OUTPUT_BYTES = 256 * 1024 * 1024;
/**
 * The author of a rehearsal's commit, which no person signs. The same name and dates give the same
 * commit and tag.
 */
const NAME = 'Rehearsal';
const EMAIL = 'rehearsal@localhost';
const UNSIGNED = ['-c', 'commit.gpgsign=false', '-c', 'tag.gpgsign=false'];

export interface GitOptions {
  /** The date for author and committer; by default the current time. */
  readonly date?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns this process's environment without git's variables, which name another repository inside
 * a hook and override the folder.
 */
function environment(date: string | undefined): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const dates = date === undefined ? {} : { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return {
    ...Object.fromEntries(kept),
    ...{ GIT_AUTHOR_NAME: NAME, GIT_AUTHOR_EMAIL: EMAIL },
    ...{ GIT_COMMITTER_NAME: NAME, GIT_COMMITTER_EMAIL: EMAIL },
    ...dates,
  };
}

/** Runs git in this folder's repository. @returns its output. */
export async function gitBytes(
  folder: string,
  words: readonly string[],
  { date, signal }: GitOptions = {},
): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('git', [...UNSIGNED, ...words], {
    ...{ cwd: folder, env: environment(date), maxBuffer: OUTPUT_BYTES },
    ...{ encoding: 'buffer' as const, signal },
  });
  return stdout;
}

/** Like `gitBytes`, but returns text without white space at both ends. */
export async function git(
  folder: string,
  words: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await gitBytes(folder, words, options)).toString().trim();
}
