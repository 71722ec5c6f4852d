import type { Call } from './call-promise.ts';
import { UsageError } from './error-classes.ts';
import { List, type Page } from './paged-list.ts';
import { type ApiRequest, ask, type Connection, type RequestOptions } from './send-with-retries.ts';
import type { Operations } from './types.ts';

type Route = keyof Operations;
/** Operations whose response the service stores under the Idempotency-Key. */
type KeyedRoute = {
  [R in Route]: Operations[R] extends { idempotencyKey: string } ? R : never;
}[Route];
type Answer<R extends Route> = Operations[R]['response'];
type Item<R extends Route> = Answer<R> extends { data: (infer I)[] } ? I : never;
/** The list type for an API page type. */
export type Listed<P extends { data: unknown[] }> = List<
  P['data'][number],
  P & Page<P['data'][number]>
>;

/** Arguments of a method: the ids of the path in order, then the operation's parameters. */
interface Sent {
  readonly ids?: readonly string[];
  readonly query?: object | undefined;
  readonly body?: object | undefined;
}

/** Base class of the resources: turns API routes into typed calls. */
export class Resource {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  protected call<R extends Exclude<Route, KeyedRoute>>(
    route: R,
    sent: Sent,
    options?: RequestOptions,
  ): Call<Answer<R>> {
    return ask(this.connection, () => this.asked(route, sent, false), options);
  }

  /** A call that may be retried under its key. */
  protected keyed<R extends KeyedRoute>(
    route: R,
    sent: Sent,
    options?: RequestOptions,
  ): Call<Answer<R>> {
    return ask(this.connection, () => this.asked(route, sent, true), options);
  }

  protected pages<R extends Exclude<Route, KeyedRoute>>(
    route: R,
    sent: Sent,
    options?: RequestOptions,
  ): List<Item<R>, Answer<R> & Page<Item<R>>> {
    return new List((cursor) => {
      const query = cursor === undefined ? sent.query : { ...sent.query, cursor };
      return this.call(route, { ...sent, query }, options) as Call<Answer<R> & Page<Item<R>>>;
    });
  }

  private asked(route: Route, { ids = [], query, body }: Sent, keyed: boolean): ApiRequest {
    const [method = '', template = ''] = route.split(' /v1');
    if (template.startsWith('/test_helpers') && this.connection.apiKey.startsWith('tlsk_live')) {
      throw new UsageError(
        'Test helpers simulate the customer in test mode only: use a tlsk_test_… key.',
      );
    }
    const left = [...ids];
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const id = left.shift();
      if (typeof id === 'string' && id !== '') return encodeURIComponent(id);
      throw new UsageError(`${name} is missing: ${route} needs it as a string.`, { param: name });
    });
    return { method, path, query, body, keyed };
  }
}
