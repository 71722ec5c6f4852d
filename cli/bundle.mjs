// node bundle.mjs [dist]: puts the SDK that src/mcp/sdk.ts names into dist/mcp/sdk.js, and beside it
// the licenses of what is in there.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';

const FOLDER = import.meta.dirname;
const MODULES = path.join(FOLDER, '../node_modules');
const BUNDLED = ['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod'];

const place = path.resolve(FOLDER, process.argv[2] ?? 'dist', 'mcp');

await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: path.join(FOLDER, 'src/mcp/sdk.ts'),
    outDir: place,
    emptyOutDir: false,
    target: 'node20',
    minify: true,
    rolldownOptions: { output: { entryFileNames: 'sdk.js', codeSplitting: false } },
  },
});

const licenses = BUNDLED.map((name) => {
  const folder = path.join(MODULES, name);
  const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const text = readFileSync(path.join(folder, 'LICENSE'), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(path.join(place, 'sdk.licenses.txt'), licenses.join(`\n${'-'.repeat(80)}\n\n`));
