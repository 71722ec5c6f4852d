/** When to give up: after so many milliseconds, or when one of the signals aborts. */
export interface Limit {
    readonly ms: number;
    readonly until: readonly AbortSignal[];
}
/**
 * Runs a task with a signal that aborts at its limit. Not `AbortSignal.any`: Node before 22 forgets
 * a combined signal at a garbage collection, and a request that hangs would hang for good.
 */
export declare function within<T>({ ms, until }: Limit, task: (signal: AbortSignal) => Promise<T>): Promise<T>;
