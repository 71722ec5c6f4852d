/** Filters that a person has kept in this browser, by the list that they belong to. */
export interface KeptFilter {
  readonly name: string;
  /** As it stands in the address, without the place in the list. */
  readonly search: string;
}

/** More than these are no longer found at a glance. */
const MOST = 8;

function isKept(entry: unknown): entry is KeptFilter {
  if (typeof entry !== 'object' || entry === null) return false;
  const { name, search } = entry as Partial<KeptFilter>;
  return typeof name === 'string' && typeof search === 'string';
}

/** Anything else than a list of filters is none: another release may have written it. */
export function readKept(text: string | null): readonly KeptFilter[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isKept) : [];
  } catch {
    return [];
  }
}

/** What is filtered by, in one order: the same filters are the same text. */
export function searchOf(params: URLSearchParams): string {
  const chosen = [...params].filter(([name]) => name !== 'cursor');
  return new URLSearchParams(chosen.sort(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** The newest first; a name stands for one filter. */
export function keep(kept: readonly KeptFilter[], one: KeptFilter): readonly KeptFilter[] {
  return [one, ...kept.filter(({ name }) => name !== one.name)].slice(0, MOST);
}

export function forget(kept: readonly KeptFilter[], name: string): readonly KeptFilter[] {
  return kept.filter((one) => one.name !== name);
}
