/** A receipt printer on a cable (its device file) or in the network (`tcp://printer:9100`). */
export type Printer = (bytes: Uint8Array) => Promise<void>;
/** @throws SettingError where the place is of no known form. */
export declare function printerAt(place: string): Printer;
export interface Printing {
    readonly printer: Printer;
    /** How wide the paper is, in characters. */
    readonly width: 32 | 48;
    readonly drawer: boolean;
}
/** Opens the drawer first, as the clerk waits for it; then the receipt. */
export declare function printReceipt({ printer, width, drawer }: Printing, receiptUrl: string | null): Promise<void>;
