/** Browsers send their own instead. */
export declare const USER_AGENT = "tapline-js/0.1.0";
