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
export declare function defaultFile(env: NodeJS.ProcessEnv): string;
export declare function savePairing(file: string, pairing: Pairing): Promise<void>;
export declare function readPairing(file: string): Promise<Pairing | null>;
export declare const NO_WALLETS: Wallets;
/** The keys that phones ask a reader for. @throws SettingError when others can read the file. */
export declare function readWallets(file: string): Promise<Wallets>;
