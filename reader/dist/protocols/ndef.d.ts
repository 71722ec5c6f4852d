/** One record of an NDEF message (NFC Forum). Chunked records do not occur in these protocols. */
export interface NdefRecord {
    readonly tnf: number;
    readonly type: string;
    readonly id: string;
    readonly payload: Uint8Array;
}
export declare const WELL_KNOWN = 1;
export declare const EXTERNAL = 4;
export declare function externalRecord(type: string, ...parts: readonly Uint8Array[]): NdefRecord;
export declare function encodeMessage(...records: readonly NdefRecord[]): Uint8Array;
export declare function decodeMessage(bytes: Uint8Array): readonly NdefRecord[];
/** The payload of the first record of that type. */
export declare function findRecord(records: readonly NdefRecord[], type: string): Uint8Array | undefined;
/** What a person would see of the message: its first address or text, if it has one. */
export declare function findContent(records: readonly NdefRecord[]): string | undefined;
