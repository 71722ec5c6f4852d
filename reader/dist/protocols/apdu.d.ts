/**
 * Commands and answers of ISO/IEC 7816-4, as bytes. A card is a function from one to the other, so
 * every protocol here runs on an emulated card as it runs on a real one.
 */
/** Sends one command to the card. Rejects with `CardGone` when the card has left. */
export type Transceive = (command: Uint8Array) => Promise<Uint8Array>;
export interface Command {
    readonly cla: number;
    readonly ins: number;
    readonly p1: number;
    readonly p2: number;
    readonly data?: Uint8Array;
    /** How many bytes of answer are expected: 0 means as many as there are. */
    readonly le?: number;
}
export interface Answer {
    readonly data: Uint8Array;
    /** Both status bytes as one number: 0x9000 is success. */
    readonly status: number;
}
export declare const SUCCESS = 36864;
/** The card left the field, or the reader left the machine. */
export declare class CardGone extends Error {
    constructor(options?: ErrorOptions);
}
/** The card answered something that its protocol does not know. */
export declare class ProtocolError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
export declare function encodeCommand(command: Command): Uint8Array;
export declare function decodeAnswer(bytes: Uint8Array): Answer;
export declare function send(transceive: Transceive, command: Command): Promise<Answer>;
/** Selects an application by its name (AID). */
export declare function select(transceive: Transceive, aid: Uint8Array): Promise<Answer>;
/** A card that stops answering must not stop the till. */
export declare function withinTime(transceive: Transceive, ms: number): {
    transceive: Transceive;
    /** From now on. */
    extend: (_longerMs: number) => void;
    end: () => void;
};
