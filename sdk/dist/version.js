const VERSION = '0.1.0';
export const USER_AGENT = `tapline-js/${VERSION}`;
