import { build } from 'vite';

/** Bundles WalletConnect's library into one file, which the pay page loads when it is needed. */

const here = import.meta.dirname;

await build({
  root: here,
  configFile: false,
  logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  build: {
    outDir: 'dist',
    lib: {
      entry: `${here}/sign-client.js`,
      formats: ['es'],
      fileName: () => 'walletconnect.js',
    },
    rollupOptions: { output: { codeSplitting: false } },
  },
});
