import type { Call } from './call.ts';
import { List, type Page } from './list.ts';
import { type Connection, type RequestOptions } from './request.ts';
import type { Operations } from './types.ts';
type Route = keyof Operations;
/** Operations whose answer the service keeps under the Idempotency-Key. */
type KeyedRoute = {
    [R in Route]: Operations[R] extends {
        idempotencyKey: string;
    } ? R : never;
}[Route];
type Answer<R extends Route> = Operations[R]['response'];
type Item<R extends Route> = Answer<R> extends {
    data: (infer I)[];
} ? I : never;
/** What a method passes on: ids in the order of the path, then what the operation takes. */
interface Sent {
    readonly ids?: readonly string[];
    readonly query?: object | undefined;
    readonly body?: object | undefined;
}
/** What the resources share: a route of the API becomes a typed call. */
export declare class Resource {
    protected readonly connection: Connection;
    constructor(connection: Connection);
    protected call<R extends Exclude<Route, KeyedRoute>>(route: R, sent: Sent, options?: RequestOptions): Call<Answer<R>>;
    /** A call that may be repeated under its key. */
    protected keyed<R extends KeyedRoute>(route: R, sent: Sent, options?: RequestOptions): Call<Answer<R>>;
    protected pages<R extends Exclude<Route, KeyedRoute>>(route: R, sent: Sent, options?: RequestOptions): List<Item<R>, Answer<R> & Page<Item<R>>>;
    private asked;
}
export {};
