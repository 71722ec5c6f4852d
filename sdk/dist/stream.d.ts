import { type Connection } from './request.ts';
import type { WebhookEvent } from './types.ts';
export interface StreamOptions {
    /** Types and families, by comma: `payment.succeeded,refund.*`. @default all */
    readonly types?: string;
    /**
     * The id of the last event that you have seen; `start`: all of the last 30 days.
     *
     * @default what happens from now on
     */
    readonly after?: string;
    readonly signal?: AbortSignal;
}
/** Where an account begins that has no event to begin behind. */
export declare const START = "start";
/**
 * Events from one place on, whatever happens to the connection: it always comes back behind the
 * last event that it has yielded. Without a stream (an older service, too many open ones) it asks
 * the list once a second.
 */
export declare function followEvents(to: Connection, { types, after, signal }: StreamOptions): AsyncGenerator<WebhookEvent, void, undefined>;
export declare function newestEvent(to: Connection): Promise<string | null>;
