import { type DeviceApi, type Intent } from './device-api.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { Tap, ToSign } from './protocols/tap.ts';
/**
 * A reader as a terminal of its own, without a screen: it takes the intents of its terminal, waits
 * for a tap and hands it in. What is to be seen and heard of it are its events.
 */
export type TillEvent = {
    readonly status: 'idle';
}
/** Money is asked for: the customer may tap. */
 | {
    readonly status: 'waiting';
    readonly intent: Intent;
}
/** The card may be taken away; the network decides. */
 | {
    readonly status: 'read';
} | {
    readonly status: 'paid';
    readonly intent: Intent;
} | {
    readonly status: 'confirm';
    readonly intent: Intent;
} | {
    readonly status: 'declined';
    readonly message: string;
} | {
    readonly status: 'ended';
    readonly intent: Intent;
}
/** What was held there is nothing that pays; the words are for the customer. */
 | {
    readonly status: 'not_read';
    readonly message: string;
} | {
    readonly status: 'offline';
}
/** The device key has ended: pair again. */
 | {
    readonly status: 'unpaired';
};
export interface Taps {
    /** Resolves with the next tap; what was tapped before nobody waits for is dropped. */
    /** @param toSign what a chip signs that comes while this waits. */
    next(signal: AbortSignal, toSign: ToSign): Promise<Tap | TwoCards>;
}
export interface WithoutScreen {
    readonly api: DeviceApi;
    readonly taps: Taps;
    readonly onEvent: (event: TillEvent) => void;
    readonly signal: AbortSignal;
}
/** Runs until `signal` ends it, or until its key has ended. */
export declare function runWithoutScreen(till: WithoutScreen): Promise<void>;
