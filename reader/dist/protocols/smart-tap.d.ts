import { type Transceive } from './apdu.ts';
import { type ProveCollector } from './collector.ts';
/**
 * Google Smart Tap 2.1: the reader proves that it belongs to a collector, and the phone gives the
 * value of that collector's pass, under keys of this one conversation.
 */
export type SmartTap = {
    readonly status: 'read';
    readonly value: Uint8Array;
    readonly deviceNonce: Uint8Array;
}
/** The phone has no pass of this collector. */
 | {
    readonly status: 'no_pass';
}
/** The phone asks its owner which pass, or to unlock it: the same phone comes again. */
 | {
    readonly status: 'tap_again';
};
export declare const SMART_TAP_AID: Uint8Array<ArrayBuffer>;
/** @param deviceNonce from the answer to the selection; without one the phone is asked for it. */
export declare function readSmartTap(transceive: Transceive, prove: ProveCollector, deviceNonce?: Uint8Array): Promise<SmartTap>;
