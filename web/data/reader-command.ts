import { fromRoot } from './root-path.ts';

/**
 * Returns the command that runs the card reader's program, as this service packages it. The URL
 * names the package, because `npx` would look for a bare name in a public registry, where anyone
 * could have taken it.
 */
export function readerCommand(args: string): string {
  return `npx ${fromRoot('packages/tapline-reader.tgz').href} ${args}`;
}
