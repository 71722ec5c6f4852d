/** The package's version, repeated here because not every runtime can read the manifest. */
const VERSION = '0.1.0';

/** Browsers send their own instead. */
export const USER_AGENT: string = `tapline-js/${VERSION}`;

/** The dated API version of the types. Sent explicitly, because a key's own version may differ. */
export const API_VERSION = '2026-09-28';
