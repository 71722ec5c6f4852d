/** Tag, length, value of ISO/IEC 8825-1, as cards use it. A list: a tag may stand there twice. */
export interface Tlv {
    readonly tag: number;
    readonly value: Uint8Array;
}
export declare function decodeTlv(bytes: Uint8Array): readonly Tlv[];
/** The value of the first `tag`, or undefined. */
export declare function findTag(list: readonly Tlv[], tag: number): Uint8Array | undefined;
export declare function encodeTlv(tag: number, value: Uint8Array): Uint8Array;
