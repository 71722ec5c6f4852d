/**
 * Says when this machine has slept: its clock went on, its timers stood still. Connections from
 * before are dead then, and nothing says so for a long time.
 */
export declare function watchSleep(onWake: () => void, signal: AbortSignal, now?: () => number): void;
