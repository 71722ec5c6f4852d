import type { Facilitator } from './facilitator.ts';
/** The HTTP interface that x402 servers expect of a facilitator. */
export type Routes = (request: Request) => Promise<Response>;
export interface RouteOptions {
    /** Where set, `/verify` and `/settle` ask for `Authorization: Bearer <token>`. */
    readonly token?: string;
    /** What failed behind an answer. @default written to the standard error */
    readonly onError?: (error: unknown) => void;
}
export declare function routesOf(facilitator: Facilitator, options?: RouteOptions): Routes;
