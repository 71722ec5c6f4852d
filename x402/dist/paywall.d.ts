import type { Facilitator } from './facilitator.ts';
export interface Offer {
    /** Atoms that the merchant gets; the client pays the network's fees on top. */
    readonly price: number;
    readonly description?: string;
    /** What is sold. @default the address of the request */
    readonly resource?: string;
}
/** What was paid. Hand out the resource, with these headers. */
export interface Paid {
    /**
     * The same whenever the same signature comes again, after an answer that got lost for example: a
     * caller that does something for the money does it once per `paymentIntent`.
     */
    readonly paymentIntent: string;
    readonly payer: string;
    readonly transaction: string;
    readonly headers: Readonly<Record<string, string>>;
}
export type Paywall = (request: Request, offer: Offer) => Promise<Paid | Response>;
/**
 * Asks for money before something is handed out.
 * @returns what was paid, or the answer to give instead
 */
export declare function paywallOf(facilitator: Facilitator): Paywall;
