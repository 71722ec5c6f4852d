/** `tapline-reader cards write`: blank chips become cards of a pass. */
export interface WritingCards {
    readonly socket: string;
    /** What the wallet shows once for a new card, as it was pasted. */
    readonly input: NodeJS.ReadableStream;
    readonly say: (event: {
        readonly status: string;
        readonly uid?: string;
    }, words: string) => void;
    readonly end: AbortController;
}
/** Writes the first blank card that is held there. @returns the exit code. */
export declare function writeCards({ socket, input, say, end }: WritingCards): Promise<number>;
