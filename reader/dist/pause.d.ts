/** Waits, but no longer than until `signal` ends it. Never rejects. */
export declare function pause(ms: number, signal: AbortSignal): Promise<void>;
