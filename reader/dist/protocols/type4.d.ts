import { type Transceive } from './apdu.ts';
/** An NFC Forum type 4 tag: how a SUN card (NTAG 424 DNA) hands out its address. */
export declare const NDEF_AID: Uint8Array<ArrayBuffer>;
/** @returns the address or text on the tag; undefined where the card is no tag or holds none. */
export declare function readTagContent(transceive: Transceive): Promise<string | undefined>;
