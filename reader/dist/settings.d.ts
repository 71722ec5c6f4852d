import type { Wallets } from './protocols/tap.ts';
/** What is kept between runs: a file that only its owner can read. */
export interface Pairing {
    readonly server: string;
    readonly device_key: string;
    readonly terminal: string;
}
/** A setting that cannot be used; its message is for the person who set it. */
export declare class SettingError extends Error {
}
/** The till in a browser that this reader serves. */
export interface Till {
    /** Where the network's pages are. */
    readonly origin: string;
    /** The hash of the token that the till keeps; null: it still shows a code. */
    readonly token_hash: string | null;
    /** Never in a file: it is good for a few minutes. */
    readonly code?: string;
}
export declare function defaultFile(env: NodeJS.ProcessEnv): string;
export declare function tillFile(env: NodeJS.ProcessEnv): string;
export declare function savePairing(file: string, pairing: Pairing): Promise<void>;
export declare function saveTill(file: string, { origin, token_hash }: Till): Promise<void>;
export declare function readPairing(file: string): Promise<Pairing | null>;
export declare function readTill(file: string): Promise<Till | null>;
export declare const NO_WALLETS: Wallets;
/** The key that Apple Wallet asks for. @throws SettingError when others can read the file. */
export declare function readPassType(file: string): Promise<Wallets['passType']>;
