import { NodeFault } from '#settlement/chain/rpc/rpc-reply.ts';

/** Limits requests per second, and decides which requests go first. */
export interface Ceiling {
  /** Maximum number of requests that `take` can grant at once. */
  readonly largest: number;
  /** Resolves when `count` requests may be sent. @throws if that takes longer than `withinMs`. */
  take(
    count: number,
    options: { readonly urgent: boolean; readonly withinMs: number },
  ): Promise<void>;
}

/** Share of the rate reserved for requests with a customer waiting at the counter. */
const URGENT_SHARE = 0.4;

interface Waiting {
  readonly count: number;
  readonly urgent: boolean;
  readonly go: () => void;
}

/**
 * Creates a token bucket that fills at `perSecond` and holds one second's worth. Urgent requests go
 * first and may empty the bucket; other requests must leave a share in it. If `perSecond` is
 * `null`, there is no limit.
 */
export function createCeiling(perSecond: number | null, now: () => number): Ceiling {
  if (perSecond === null) return { largest: Number.POSITIVE_INFINITY, take: async () => {} };
  const kept = Math.min(Math.floor(perSecond * URGENT_SHARE), perSecond - 1);
  let tokens = perSecond;
  let filledAt = now();
  let timer: NodeJS.Timeout | undefined;
  const waiting: Waiting[] = [];

  const fill = () => {
    const at = now();
    tokens = Math.min(perSecond, tokens + ((at - filledAt) * perSecond) / 1000);
    filledAt = at;
  };
  const next = () => waiting.find((one) => one.urgent) ?? waiting[0];
  const serve = () => {
    fill();
    for (let one = next(); one !== undefined; one = next()) {
      // Capped at what the bucket can hold, because a request that needs more would wait forever.
      const needed = one.urgent ? one.count : Math.min(one.count + kept, perSecond);
      if (tokens < needed) return ringIn(((needed - tokens) * 1000) / perSecond);
      waiting.splice(waiting.indexOf(one), 1);
      tokens -= one.count;
      one.go();
    }
  };
  const ringIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(serve, Math.ceil(ms)).unref();
  };
  return {
    largest: perSecond,
    take: (count, { urgent, withinMs }) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.splice(waiting.indexOf(one), 1);
          reject(
            new NodeFault('ceiling', 'the configured limit of requests per second is reached'),
          );
        }, withinMs);
        const go = () => {
          clearTimeout(late);
          resolve();
        };
        const one: Waiting = { count, urgent, go };
        waiting.push(one);
        serve();
      }),
  };
}
