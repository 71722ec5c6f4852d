/**
 * ESC/POS, the language of receipt printers, as bytes. It runs in the till's page and in Node. Only
 * what printers of all makers have: text, a QR code, a cut, the drawer's pulse.
 */
export interface Ticket {
    /** Lines that fit the paper already: 48 characters on 80 mm, 32 on 58 mm. */
    readonly text: string;
    /** Behind the text as a QR code; null: none. */
    readonly address: string | null;
}
/** The whole ticket, cut off. */
export declare function ticketBytes({ text, address }: Ticket): Uint8Array<ArrayBuffer>;
/** Opens the drawer that is plugged into the printer. */
export declare function drawerBytes(): Uint8Array<ArrayBuffer>;
