import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { StartError } from '#core/start-error.ts';

/**
 * Time limit of a probe, which takes 10 ms. A probe that hangs (a policy prompt, an unreachable
 * network folder) counts as failed.
 */
const PROBE_MS = 5000;

/** The usual ids of `nobody`, used if the system's user list lacks it. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * The account that runs PostgreSQL's programs, which refuse to run as root, and that owns their
 * files.
 */
export interface PostgresAccount {
  readonly name: 'ourselves' | 'user namespace' | 'capability' | 'other user';
  /** A program with its first arguments; the program to run is appended. */
  readonly wrapper: readonly string[];
  /** The user and group IDs under which the program is spawned. */
  readonly switchTo?: { uid: number; gid: number };
  /**
   * Required owner of the cluster's files; undefined if we are not root, and so cannot change the
   * owner.
   */
  readonly owner?: { uid: number; gid: number };
}

/**
 * Finds the first account under which the program runs and can enter the folder, and gives the
 * folder to it. For an ordinary user, this is the user's own account. As root, in this order:
 * 1. A user namespace in which root is called `nobody`: the files stay root's, and closed folders
 * are no obstacle. Containers often forbid it.
 * 2. `nobody` with only the capability to pass through closed folders, which a container's root may
 * be allowed to grant.
 * 3. Plain `nobody`: works if all parent folders are open; the data folder gets mode 0711, which
 * lets it pass but not read.
 * The account that already owns the folder is tried first, so that later starts change nothing.
 * @throws StartError if PostgreSQL cannot run here, with the reason for each attempt.
 */
export function choosePostgresAccount(program: string, folder: string): PostgresAccount {
  const ownerUid = fs.statSync(folder).uid;
  const owns = (account: PostgresAccount) => account.owner?.uid === ownerUid;
  const accounts = candidates();
  const refusals: string[] = [];
  for (const account of [...accounts.filter(owns), ...accounts.filter((a) => !owns(a))]) {
    const refusal = prepareAndProbe(account, program, folder);
    if (refusal === undefined) return account;
    refusals.push(`${account.name}: ${refusal}`);
  }
  throw new StartError(
    `PostgreSQL cannot run from ${dirname(program)} in ${folder} (${refusals.join('; ')}); ` +
      'run npm ci as an ordinary user, choose another TAPLINE_DATA_DIR, or set DATABASE_URL.',
  );
}

function candidates(): PostgresAccount[] {
  const namespace = (uid: number, gid: number): PostgresAccount => ({
    name: 'user namespace',
    wrapper: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'],
  });
  const nobody = findNobody();
  if (process.getuid?.() !== 0) {
    const ourselves: PostgresAccount = { name: 'ourselves', wrapper: [] };
    // initdb needs a user name. If our ID has none, use a user namespace with an ID from the user
    // list.
    return isListed() ? [ourselves] : [namespace(nobody.uid, nobody.gid), ourselves];
  }
  const ids = ['--reuid', String(nobody.uid), '--regid', String(nobody.gid), '--clear-groups'];
  const caps = ['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override'];
  return [
    { ...namespace(nobody.uid, nobody.gid), owner: { uid: 0, gid: 0 } },
    { name: 'capability', wrapper: ['setpriv', ...ids, ...caps, '--'], owner: nobody },
    { name: 'other user', wrapper: [], switchTo: nobody, owner: nobody },
  ];
}

function isListed(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

function findNobody(): { uid: number; gid: number } {
  const users = fs.existsSync('/etc/passwd') ? fs.readFileSync('/etc/passwd', 'utf8') : '';
  const fields = users.split('\n').map((line) => line.split(':'));
  const nobody = fields.find(([name]) => name === 'nobody');
  const [uid, gid] = [Number(nobody?.[2]), Number(nobody?.[3])];
  return uid > 0 && gid > 0 ? { uid, gid } : NOBODY;
}

/** Returns why this account does not work; undefined if it does work. */
function prepareAndProbe(
  account: PostgresAccount,
  program: string,
  folder: string,
): string | undefined {
  if (account.owner !== undefined) giveTo(folder, account.owner);
  if (account.name !== 'other user') return probe(account, program, folder);
  const above = dirname(folder);
  const mode = fs.statSync(above).mode;
  fs.chmodSync(above, mode | 0o011);
  const refusal = probe(account, program, folder);
  if (refusal !== undefined) fs.chmodSync(above, mode);
  return refusal;
}

function probe(account: PostgresAccount, program: string, folder: string): string | undefined {
  const script = 'cd "$1" && exec "$2" --version';
  const [file, ...args] = [...account.wrapper, '/bin/sh', '-c', script, 'sh', folder, program];
  const ran = spawnSync(file ?? '', args, {
    ...account.switchTo,
    cwd: '/',
    env: postgresEnvironment(),
    timeout: PROBE_MS,
    encoding: 'utf8',
  });
  if (ran.error !== undefined) return ran.error.message;
  return ran.status === 0 ? undefined : (ran.stderr.trim().split('\n')[0] ?? 'it failed');
}

function giveTo(path: string, owner: { uid: number; gid: number }): void {
  const stat = fs.lstatSync(path);
  if (stat.uid === owner.uid && stat.gid === owner.gid) return;
  // Change the folder itself last, so that an interrupted change of owner is noticed and repeated.
  if (stat.isDirectory()) {
    for (const name of fs.readdirSync(path)) giveTo(join(path, name), owner);
  }
  fs.lchownSync(path, owner.uid, owner.gid);
}

/**
 * Returns the environment for PostgreSQL's programs. It leaves out our own, so that no `PG…`
 * variable takes effect.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) =>
    ['PATH', 'LD_LIBRARY_PATH', 'SYSTEMROOT'].includes(name),
  );
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}
