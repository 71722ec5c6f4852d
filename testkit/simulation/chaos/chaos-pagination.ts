import type { ChaosCaller } from '#testkit/simulation/chaos/chaos-caller.ts';
import type { Journal } from '#testkit/simulation/chaos/chaos-journal.ts';

/** Maximum number of pages to read: enough that other clients add rows in the meantime. */
const PAGES = 5;

/**
 * Pages through a list while other clients write. No object may appear twice.
 * @returns false if a request failed
 */
export async function pageThrough(
  server: Pick<ChaosCaller, 'get'>,
  list: string,
  journal: Pick<Journal, 'complain'>,
): Promise<boolean> {
  const seen = new Set<string>();
  let cursor = '';
  for (let page = 0; page < PAGES; page++) {
    const answer = await server.get(`/${list}?limit=100${cursor}`);
    if (answer?.status !== 200) return false;
    for (const { id } of answer.body.data as { id: string }[]) {
      if (seen.has(id)) journal.complain(`${id} appeared twice in one pagination of ${list}`);
      seen.add(id);
    }
    if (answer.body.next_cursor === null) return true;
    cursor = `&cursor=${encodeURIComponent(String(answer.body.next_cursor))}`;
  }
  return true;
}
