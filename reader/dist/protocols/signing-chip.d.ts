import { type EcdsaSignature } from '../ethereum/secp256k1.ts';
import { type Transceive } from './apdu.ts';
/**
 * Chips that have a key of Ethereum and sign what they are asked to: HaLo (and Burner), Keycard
 * Cash, and a Keycard with a path that needs no PIN. Sources: what their makers publish of their
 * commands.
 */
export interface SigningChip {
    /** 65 bytes. */
    readonly publicKey: Uint8Array;
    /** @param digest 32 bytes. @returns the signature as the chip gave it. */
    sign(digest: Uint8Array): Promise<EcdsaSignature>;
}
/** The chip that is there; null for anything that does not sign, or wants a PIN first. */
export declare function findSigningChip(transceive: Transceive): Promise<SigningChip | null>;
