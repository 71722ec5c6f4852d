/** Formats a setting's path as a name, for example `testnet › rpc urls`. */
function nameOf(path: readonly string[]): string {
  return path.join(' › ').replaceAll('_', ' ');
}

function wordsOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(wordsOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns one line per setting; its value is `null` if it is not set. */
export function settingsOf(
  value: unknown,
  path: readonly string[] = [],
): (readonly [name: string, words: string | null])[] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isGroup) return [[nameOf(path), wordsOf(value)]];
  return Object.entries(value).flatMap(([name, inner]) => settingsOf(inner, [...path, name]));
}
