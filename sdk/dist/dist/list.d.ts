import type { Call } from './call.ts';
/** One page, as the API answers it. */
export interface Page<T> {
    readonly data: readonly T[];
    readonly has_more: boolean;
    readonly next_cursor: string | null;
}
/**
 * A list, newest first. Iterate it and every page is fetched as it is needed; `page` is the first
 * page alone. Nothing is asked before one of the two.
 */
export declare class List<T, P extends Page<T> = Page<T>> implements AsyncIterable<T> {
    #private;
    constructor(fetch: (cursor?: string) => Call<P>);
    /** The first page, or that of the `cursor` you gave. */
    get page(): Call<P>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}
