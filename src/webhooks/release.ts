import { describeError, type Log } from '#core/log.ts';
import { createBatcher } from '#db/batching.ts';
import type { Database } from '#db/database.ts';
import { releaseEndpoints } from '#webhooks/queue-queries.ts';

/** Of one statement. */
const MAX_RELEASES = 500;

/** Gives leases back, many at a time; what could not be given back is tried again later. */
export function createReleaser(deps: { readonly db: Database; readonly log: Log }, owner: string) {
  const batcher = createBatcher<string, void>({
    run: async (ids) => {
      await releaseEndpoints(deps.db, owner, ids);
      return ids.map(() => undefined);
    },
    maxInFlight: 1,
    maxItems: MAX_RELEASES,
  });
  const unreleased = new Set<string>();
  const release = async (endpointId: string) => {
    try {
      await batcher.add(endpointId);
      unreleased.delete(endpointId);
    } catch (error) {
      // It also ends by itself, for others; this worker never takes over from itself.
      unreleased.add(endpointId);
      deps.log.warn('a webhook lease was not released', { error: describeError(error) });
    }
  };
  return { release, retry: () => Promise.all([...unreleased].map(release)) };
}
