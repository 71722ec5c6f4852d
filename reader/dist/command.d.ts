/** @returns the exit code: 0 done, 1 refused, 2 wrong use. */
export declare function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number>;
