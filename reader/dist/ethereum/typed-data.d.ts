/** EIP-712 for flat messages, such as the transfer that pays a sale (EIP-3009). */
export interface TypedData {
    readonly domain: Readonly<Record<string, unknown>>;
    readonly types: Readonly<Record<string, readonly Field[]>>;
    readonly primaryType: string;
    readonly message: Readonly<Record<string, unknown>>;
}
interface Field {
    readonly name: string;
    readonly type: string;
}
/** What is signed: 32 bytes. @throws RangeError for a message that is not flat. */
export declare function digestOf({ domain, types, primaryType, message }: TypedData): Buffer;
export {};
