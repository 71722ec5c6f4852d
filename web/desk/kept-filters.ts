export interface KeptFilter {
  readonly name: string;
  /** The URL's query string without the list position. */
  readonly search: string;
}

/** Maximum number of saved filters per list. More would be hard to find. */
const MOST = 8;

function isKept(entry: unknown): entry is KeptFilter {
  if (typeof entry !== 'object' || entry === null) return false;
  const { name, search } = entry as Partial<KeptFilter>;
  return typeof name === 'string' && typeof search === 'string';
}

/** Invalid contents, for example from another release, count as none. */
export function readKept(text: string | null): readonly KeptFilter[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isKept) : [];
  } catch {
    return [];
  }
}

/**
 * Returns the filters without the list position, in a canonical order, so that equal filters yield
 * equal strings.
 */
export function searchOf(params: URLSearchParams): string {
  const chosen = [...params].filter(([name]) => name !== 'cursor');
  return new URLSearchParams(chosen.sort(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** Puts a filter first in the list, and removes an older one with the same name. */
export function keep(kept: readonly KeptFilter[], one: KeptFilter): readonly KeptFilter[] {
  return [one, ...kept.filter(({ name }) => name !== one.name)].slice(0, MOST);
}

export function forget(kept: readonly KeptFilter[], name: string): readonly KeptFilter[] {
  return kept.filter((one) => one.name !== name);
}
