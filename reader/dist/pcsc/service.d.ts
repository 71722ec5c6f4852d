/**
 * The PC/SC service of Linux (pcscd), by its socket: messages of fixed size in the machine's byte
 * order. Speaking to the socket needs no native code, so the package installs anywhere. The layout
 * is that of protocol 4.4, which pcscd 1.9 speaks and 2.x still accepts.
 */
export declare const PCSCD_SOCKET = "/run/pcscd/pcscd.comm";
export interface ReaderState {
    readonly name: string;
    readonly cardPresent: boolean;
    /** Rises with each card that comes or goes. */
    readonly events: number;
}
/** The service refused: 32 bits, as PC/SC numbers its errors. */
export declare class PcscError extends Error {
    readonly code: number;
    constructor(step: string, code: number);
}
/** The service is not there, or went away. */
export declare class PcscGone extends Error {
    constructor(options?: ErrorOptions);
}
/** A card that cannot be powered up: mostly two cards at once. */
export declare const UNRESPONSIVE = 2148532326;
export interface Card {
    transceive(command: Uint8Array): Promise<Uint8Array>;
    end(): Promise<void>;
}
/** One conversation with the service. Its requests go one after the other. */
export declare class PcscSession {
    #private;
    private constructor();
    static open(path: string): Promise<PcscSession>;
    close(): void;
    readerStates(): Promise<readonly ReaderState[]>;
    /**
     * Resolves with what is there as soon as that differs from `since`. Nothing else may be asked of
     * this session while it waits: the service sends its word of a change unasked.
     */
    nextChange(since: readonly ReaderState[]): Promise<readonly ReaderState[]>;
    connect(reader: string): Promise<Card>;
}
