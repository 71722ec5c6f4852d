import type { Page } from '#db/paging.ts';

/** Returns the first page of a list, with no bounds but the limit. */
export function firstPage(limit = 100): Page {
  return { limit, after: null, createdGte: null, createdLt: null };
}
