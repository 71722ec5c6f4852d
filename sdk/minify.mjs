// node minify.mjs [dist]: receivers at the edge load tapline/webhooks alone, so that module is as
// small as its budget says. Its types and its names stay.
import path from 'node:path';
import { build } from 'vite';

// An error's name is that of its class.
const minify = { compress: true, mangle: { keepNames: { class: true, function: false } } };
const place = path.resolve(import.meta.dirname, process.argv[2] ?? 'dist');

await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  ssr: { target: 'node' },
  build: {
    ssr: path.join(place, 'webhooks.js'),
    outDir: place,
    emptyOutDir: false,
    target: 'es2022',
    minify: false,
    rolldownOptions: {
      // The one TaplineError of the package.
      external: /\/error\.js$/,
      output: { entryFileNames: 'webhooks.js', codeSplitting: false, minify },
    },
  },
});
