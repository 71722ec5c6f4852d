import path from 'node:path';
import { type Build, ensureBuild } from '#files/build-cache.ts';

const APPS: Build = {
  name: 'tapline-web',
  what: 'the web apps',
  sources: ['web', 'texts', 'src/texts'],
  // Tests, types and words about them change nothing.
  ignored: /\.test\.tsx?$|\.md$|(^|\/)testing\/|^web\/data\/types\//,
  command: 'src/web/build-command.ts',
};

/** The folder with the built web apps. @throws StartError when they cannot be built. */
export async function ensureBuilt(dataDir: string): Promise<string> {
  return ensureBuild(APPS, path.resolve(dataDir, 'web'));
}
