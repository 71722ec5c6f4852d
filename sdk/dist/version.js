const VERSION = '0.1.0';
export const USER_AGENT = `tapline-js/${VERSION}`;
export const API_VERSION = '2026-09-28';
