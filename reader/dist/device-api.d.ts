import type { TypedData } from './ethereum/typed-data.ts';
import { type ProveCollector } from './protocols/collector.ts';
import type { TapCredential } from './protocols/tap.ts';
/** What a reader without a screen needs of the device API (`/api/device/v1`). */
/** The fields of a payment intent that decide what to do next. */
export interface Intent {
    readonly id: string;
    readonly amount: number;
    readonly status: string;
    readonly expires_at: string;
    readonly last_payment_error: {
        readonly customer_message: string;
    } | null;
}
/** The server's answer when it refuses: nothing moved. */
export declare class DeviceApiError extends Error {
    readonly status: number;
    readonly code: string;
    constructor(status: number, code: string, message: string);
}
export declare class DeviceApi {
    #private;
    /** @param server the address of the network, for example `https://pay.example.com`. */
    constructor(server: string, deviceKey: string);
    /** The machine has slept: what waits for an answer fails now, and is asked again by who waits. */
    woke(): void;
    /** The key for a pairing code of the dashboard: works once. */
    static pair(server: string, code: string): Promise<{
        key: string;
        terminal: string;
    }>;
    /** Says which software this terminal runs: this package. */
    report(signal: AbortSignal): Promise<unknown>;
    /** The oldest open intent; null when none came within 25 s. */
    nextIntent(signal: AbortSignal): Promise<Intent | null>;
    intent(id: string, signal: AbortSignal): Promise<Intent>;
    /** The intent, as soon as its status is another than `seen`, or after 25 s. */
    changed(id: string, seen: string, signal: AbortSignal): Promise<Intent>;
    tap(id: string, credential: TapCredential, key: string): Promise<Intent>;
    /** What a chip of this address signs to pay; null when the intent cannot be paid now. */
    toSign(id: string, from: string, signal: AbortSignal): Promise<TypedData | null>;
    /** Has a tap of a phone signed by the network, whose key stays there. */
    readonly proveCollector: ProveCollector;
    /** The same signature again gets the first answer. */
    authorize(id: string, signed: {
        from: string;
        signature: string;
    }): Promise<Intent>;
    /** Where the receipt of a paid intent is; null while there is none. */
    receiptUrl(intent: string): Promise<string | null>;
}
