/**
 * Returns the numbers of a version such as `1.12.0-beta.2`, or `null` if it is invalid. A
 * pre-release sorts before its release.
 */
function partsOf(version: string): readonly number[] | null {
  const match = /^(\d+)\.(\d+)\.(\d+)(-.*)?$/.exec(version);
  if (match === null) return null;
  const [, major, minor, patch, suffix] = match;
  return [Number(major), Number(minor), Number(patch), suffix === undefined ? 1 : 0];
}

/**
 * The newest releases that this service knows: its own till for browsers and its reader package.
 * For other software no newest release is known.
 */
interface Releases {
  readonly browser: string;
  readonly reader: string;
}

/** True if a till or reader runs an older release than the newest known one. */
export function isBehind(
  terminal: { readonly platform: string; readonly software_version: string | null },
  releases: Releases,
): boolean {
  const { platform, software_version: version } = terminal;
  if (platform !== 'browser' && platform !== 'reader') return false;
  const [has, current] = [partsOf(version ?? ''), partsOf(releases[platform])];
  if (has === null || current === null) return false;
  const index = current.findIndex((part, i) => part !== has[i]);
  return index !== -1 && (has[index] ?? 0) < (current[index] ?? 0);
}
