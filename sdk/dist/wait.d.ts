import { type Connection } from './request.ts';
export interface WaitOptions<T> {
    /** Milliseconds. @default 300000 */
    readonly timeout?: number;
    /** What to wait for, where it is not the end. */
    readonly until?: (object: T) => boolean;
    readonly signal?: AbortSignal;
}
interface Waited<T> {
    readonly id: string;
    readonly read: () => Promise<T>;
    readonly until: (object: T) => boolean;
}
/** Reads the object whenever an event tells of it, and now and then without one. */
export declare function waitFor<T>(to: Connection, waited: Waited<T>, { timeout, until, signal }: WaitOptions<T>): Promise<T>;
export {};
