/** `1.12.0-beta.2` as numbers; null for what is no such version. What follows a dash is older. */
function partsOf(version: string): readonly number[] | null {
  const found = /^(\d+)\.(\d+)\.(\d+)(-.*)?$/.exec(version);
  if (found === null) return null;
  const [, major, minor, patch, suffix] = found;
  return [Number(major), Number(minor), Number(patch), suffix === undefined ? 1 : 0];
}

/**
 * Whether a till runs an older release than the service. Only tills in a browser are of the
 * service's own release: they are up to date once they are loaded again.
 */
export function isBehind(
  terminal: { readonly platform: string; readonly software_version: string | null },
  release: string,
): boolean {
  const { platform, software_version: version } = terminal;
  const [has, current] = [partsOf(version ?? ''), partsOf(release)];
  if (platform !== 'browser' || has === null || current === null) return false;
  const place = current.findIndex((part, i) => part !== has[i]);
  return place !== -1 && (has[place] ?? 0) < (current[place] ?? 0);
}
