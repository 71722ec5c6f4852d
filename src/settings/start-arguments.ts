import { StartError } from '#core/start-error.ts';

/**
 * `registrar` is the part of a worker that sends with the registrar's key. `watch` is a watchtower,
 * which always runs in a separate process.
 */
export type Role = 'api' | 'worker' | 'registrar' | 'watch';
/** The roles of a process without arguments. */
const ROLES: readonly Role[] = ['api', 'worker', 'registrar'];

/** Returns the arguments without `--lan`, and whether it was given. */
export function takeLan(args: readonly string[]): {
  readonly lan: boolean;
  readonly others: string[];
} {
  const others = args.filter((argument) => argument !== '--lan');
  return { lan: others.length < args.length, others };
}

export function readRoles(args: readonly string[]): ReadonlySet<Role> {
  const at = args.indexOf('--roles');
  const unknown = args.find((_, index) => index !== at && !(at >= 0 && index === at + 1));
  if (unknown !== undefined)
    throw new StartError(
      `unknown argument ${unknown}: only --roles, --lan and --help are supported`,
    );
  if (at < 0) return new Set(ROLES);
  const names = (args[at + 1] ?? '').split(',');
  if (names.length === 1 && names[0] === 'watch') return new Set(['watch']);
  if (names.includes('watch'))
    throw new StartError(
      '--roles watch cannot be combined with other roles: a watchtower needs its own process',
    );
  for (const name of names) {
    if (!ROLES.includes(name as Role)) {
      throw new StartError(
        '--roles takes api, worker, registrar, watch, or several: --roles api,worker',
      );
    }
  }
  return new Set(names as Role[]);
}
