import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { compressFiles, FAST } from '#web/compress.ts';

/**
 * `node src/web/build-command.ts --out <folder>`: builds the web apps into the folder, with
 * compressed forms of each file, which `compress-command.ts` makes smaller later. Runs in a
 * separate process, because a build needs memory that the service would keep.
 */
const WEB = path.join(import.meta.dirname, '../../web');

/** The page `/contract` as a single file that works without a server. */
const ALONE = 'contract-alone.html';

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Builds the page `/contract` as a single file, with inline script and style and a policy that
 * forbids all connections.
 */
async function buildAlone(folder: string): Promise<string> {
  await build({
    root: WEB,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: path.join(WEB, 'contract.html'),
        output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
      },
    },
  });
  const read = (name: string) => readFile(path.join(folder, name), 'utf8');
  const html = await read('contract.html');
  const script = await read('page.js');
  const style = await read('page.css');
  await rm(folder, { recursive: true });
  if (script.includes('</script'))
    throw new Error('the script contains </script, which would end it early');
  const bare = html.replace(/<(?:script|link)\b[^>]*>(?:<\/script>)?\n?/g, '');
  const policy =
    `default-src 'none'; script-src ${hashOf(script)}; ` +
    `style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  // Pass functions to `replace`, because the texts may contain its replacement patterns.
  return bare
    .replace(
      '<head>',
      () => `<head>\n<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
    .replace('</head>', () => `<style>${style}</style>\n</head>`)
    .replace('</body>', () => `<script type="module">${script}</script>\n</body>`);
}

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('--out <folder> is missing');
const out = path.resolve(values.out);
await build({
  root: WEB,
  // By default, Vite writes a file next to its configuration, but a service may not write to its
  // program's folder.
  configLoader: 'native',
  build: { outDir: out, emptyOutDir: true },
});
await writeFile(path.join(out, ALONE), await buildAlone(`${out}.alone`));
await compressFiles(out, FAST);
