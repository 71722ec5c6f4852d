import type { Tenant } from '#core/mode.ts';
import { perProcess } from '#core/once-per-process.ts';
import type { Place } from '#db/paging.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { eventsKey } from '#events/append-events.ts';
import { EventFeed } from '#events/event-feed.ts';
import { selectNewestPlace } from '#events/stream-queries.ts';
import { StreamReader } from '#events/stream-reader.ts';

export interface Following {
  readonly tenant: Tenant;
  /** The position of the last event that the client has seen; `null` to start now. */
  readonly after: Place | null;
  /**
   * The event types; `null` for all. Streams with the same types should share one `Set`, so that
   * events are rendered only once.
   */
  readonly types: ReadonlySet<string> | null;
  /** Aborts when the client disconnects, or the process ends. */
  readonly gone: AbortSignal;
}

export interface EventStreams {
  /** Opens an endless stream of an account's events in a mode, in order. */
  follow(following: Following): Promise<StreamReader>;
}

/**
 * Interval of comments: proxies close connections that are silent for a minute, and clients give up
 * after 45 s.
 */
const COMMENT_EVERY_MS = 15_000;

export const eventStreams = perProcess((ctx: ProcessContext): EventStreams => {
  const feeds = new Map<string, EventFeed>();
  const keepAlive = (reader: StreamReader) => {
    const timer = setInterval(() => reader.beat(), COMMENT_EVERY_MS);
    reader.stream.once('close', () => clearInterval(timer));
  };
  return {
    follow: async ({ tenant, after, types, gone }) => {
      const newest = await selectNewestPlace(ctx.db, tenant);
      const reader = new StreamReader(after ?? newest, types);
      const key = eventsKey(tenant);
      const feed = feeds.get(key) ?? new EventFeed(ctx, tenant, newest);
      feeds.set(key, feed);
      feed.add(reader, () => feeds.delete(key));
      keepAlive(reader);
      const end = () => reader.end();
      if (gone.aborted) end();
      else gone.addEventListener('abort', end, { once: true });
      return reader;
    },
  };
});
