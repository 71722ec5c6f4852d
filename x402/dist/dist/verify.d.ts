import { type Sale, type Seller } from './sale.ts';
import { type Verified } from './wire.ts';
type Checked = {
    readonly sale: Sale;
} | {
    readonly refusal: Verified;
};
/**
 * What a request to pay says, as far as it can be told without the chain's state: what is wrong
 * here stays wrong.
 */
export declare function readSale(seller: Seller, payload: unknown, wanted: unknown): Promise<Checked>;
/** Why the money cannot be taken now; null where it can be, or has been. */
export declare function obstacleOf(seller: Seller, { authorization }: Sale): Promise<string | null>;
/**
 * Whether a client's signature is good for a sale. One that has bought already is not, which is
 * what keeps a seller from handing out twice what was paid once.
 */
export declare function verify(seller: Seller, asked: {
    readonly payload: unknown;
    readonly requirements: unknown;
}): Promise<Verified>;
export {};
