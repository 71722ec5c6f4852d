/** The package's own version: a program cannot read its manifest in every runtime. */
const VERSION = '0.1.0';

/** Browsers send their own instead. */
export const USER_AGENT: string = `tapline-js/${VERSION}`;

/** The dated version of the API that the types are made from: another key's own could differ. */
export const API_VERSION = '2026-09-28';
