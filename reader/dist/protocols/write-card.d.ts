import { type Transceive } from './apdu.ts';
/**
 * Turns a blank NTAG 424 DNA into the SUN card of a pass. The master key changes last: until then a
 * card that was taken away too early is written again, and from then on nobody changes it without
 * the keys of the pass. No key is kept anywhere: all are derived from the two of the pass.
 */
/** What the network answers once for a new card. Secrets: never write them to a disk. */
export interface CardSettings {
    readonly url_template: string;
    /** 16 bytes in hex. */
    readonly meta_read_key: string;
    /** 16 bytes in hex. */
    readonly file_read_key: string;
}
export type Written = 
/** It holds the pass and was read back. */
{
    readonly status: 'written';
    readonly uid: string;
}
/** It held this very pass before; read back, nothing changed. */
 | {
    readonly status: 'already_written';
    readonly uid: string;
}
/** It has keys or content of somebody. Nothing was changed. */
 | {
    readonly status: 'not_blank';
} | {
    readonly status: 'not_a_chip_of_this_kind';
}
/** NXP has not signed its number: a copy, whose keys somebody may know. Nothing was changed. */
 | {
    readonly status: 'counterfeit';
}
/** Taken away too early: hold it there again. */
 | {
    readonly status: 'gone';
} | {
    readonly status: 'failed';
    readonly reason: string;
};
/** Some 30 commands: half a second on a good reader. */
export declare const LONGEST_WRITE_MS = 10000;
/**
 * Writes one card. Never rejects: every end is a value.
 * @param maker the public key of who makes such chips.
 * @throws RangeError on settings of another form.
 */
export declare function writeCard(transceive: Transceive, settings: CardSettings, maker?: Uint8Array<ArrayBufferLike>): Promise<Written>;
interface PassOfCard {
    /** The address up to what differs at each tap. */
    readonly page: string;
    readonly message: Uint8Array;
    readonly fileSettings: Uint8Array;
    readonly metaRead: Uint8Array;
    readonly fileRead: Uint8Array;
}
/** @throws RangeError where these are not the settings of a card. */
export declare function readSettings(settings: CardSettings): PassOfCard;
export {};
