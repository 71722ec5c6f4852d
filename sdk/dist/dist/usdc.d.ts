/** USDC atoms: `usdc('2.50')` is 2500000. It takes text, because 0.1 + 0.2 is not 0.3. */
export declare function usdc(amount: string): number;
/** The other way: `formatUsdc(2500000)` is '2.50'. At least two decimals. */
export declare function formatUsdc(atoms: number): string;
