/** Filters that the user saved in this browser, per list. */
export interface KeptFilter {
  readonly name: string;
  /** The URL's query string without the list position. */
  readonly search: string;
}

/** Beyond this many, saved filters are no longer easy to find. */
const MOST = 8;

function isKept(entry: unknown): entry is KeptFilter {
  if (typeof entry !== 'object' || entry === null) return false;
  const { name, search } = entry as Partial<KeptFilter>;
  return typeof name === 'string' && typeof search === 'string';
}

/** Parses the stored filters. Anything else, for example of another release, counts as none. */
export function readKept(text: string | null): readonly KeptFilter[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isKept) : [];
  } catch {
    return [];
  }
}

/** The filters in a canonical order, so that equal filters yield equal strings. */
export function searchOf(params: URLSearchParams): string {
  const chosen = [...params].filter(([name]) => name !== 'cursor');
  return new URLSearchParams(chosen.sort(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** Adds a filter, newest first. Each name exists once. */
export function keep(kept: readonly KeptFilter[], one: KeptFilter): readonly KeptFilter[] {
  return [one, ...kept.filter(({ name }) => name !== one.name)].slice(0, MOST);
}

export function forget(kept: readonly KeptFilter[], name: string): readonly KeptFilter[] {
  return kept.filter((one) => one.name !== name);
}
