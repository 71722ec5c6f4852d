type Settings = Readonly<Record<string, string | undefined>>;
/** `tapline-x402`: the facilitator as a server of its own, set up by the environment. */
export declare function main(env: Settings): Promise<void>;
export {};
