import { fromRoot } from './root-path.ts';

/**
 * Returns the command that runs the card reader's program, as this service packages it. The
 * package is downloaded, because npm 12 refuses URLs, and installed first, because `npx` would look
 * for it in a public registry otherwise, where anyone could have taken its name.
 */
export function readerCommand(args: string): string {
  const url = fromRoot('packages/tapline-reader.tgz').href;
  return `curl -O ${url} && npm i ./tapline-reader.tgz && npx tapline-reader ${args}`;
}
