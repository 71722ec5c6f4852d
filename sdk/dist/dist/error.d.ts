/** What an error says beside its message. */
export interface ErrorDetails {
    /** The HTTP status; null when no answer came. */
    readonly status?: number | null;
    readonly type?: string | null;
    /** Branch on this. New codes may appear: handle those by their type. */
    readonly code?: string | null;
    /** The parameter that the error is about. */
    readonly param?: string | null;
    /** Quote it when you ask for help. */
    readonly requestId?: string | null;
    readonly docUrl?: string | null;
    readonly cause?: unknown;
}
/** Every error of this package is one of these. */
export declare class TaplineError extends Error {
    readonly status: number | null;
    readonly type: string | null;
    readonly code: string | null;
    readonly param: string | null;
    readonly requestId: string | null;
    readonly docUrl: string | null;
    constructor(message: string, details?: ErrorDetails);
}
