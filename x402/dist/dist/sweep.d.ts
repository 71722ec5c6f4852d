import type { Seller } from './sale.ts';
/** Of one process: intents that owe nothing any more. */
export type Seen = Set<string>;
/**
 * Gives back what was taken for sales that ended unpaid while nobody looked: the process was killed
 * in the middle, and the client never asked again.
 * @returns the ids of the intents whose money went back
 */
export declare function sweep(seller: Seller, seen: Seen, now: Date): Promise<string[]>;
