/** Browsers send their own instead. */
export declare const USER_AGENT = "tapline-js/0.1.0";
/** The dated version of the API that the types are made from: another key's own could differ. */
export declare const API_VERSION = "2026-09-28";
