/** The till's page asks this port unless it is told another one. */
export declare const TILL_PORT = 4244;
/** @returns the exit code: 0 done, 1 refused, 2 wrong use. */
export declare function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number>;
