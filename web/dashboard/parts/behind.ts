/** `1.12.0-beta.2` as numbers; null for what is no such version. What follows a dash is older. */
function partsOf(version: string): readonly number[] | null {
  const found = /^(\d+)\.(\d+)\.(\d+)(-.*)?$/.exec(version);
  if (found === null) return null;
  const [, major, minor, patch, suffix] = found;
  return [Number(major), Number(minor), Number(patch), suffix === undefined ? 1 : 0];
}

/**
 * The newest release for a platform that this network has: its till for browsers, and the reader's
 * package that it serves. Of other software nobody here knows a newest one.
 */
interface Releases {
  readonly browser: string;
  readonly reader: string;
}

/** Whether a till or a reader runs an older release than there is here. */
export function isBehind(
  terminal: { readonly platform: string; readonly software_version: string | null },
  releases: Releases,
): boolean {
  const { platform, software_version: version } = terminal;
  if (platform !== 'browser' && platform !== 'reader') return false;
  const [has, current] = [partsOf(version ?? ''), partsOf(releases[platform])];
  if (has === null || current === null) return false;
  const place = current.findIndex((part, i) => part !== has[i]);
  return place !== -1 && (has[place] ?? 0) < (current[place] ?? 0);
}
