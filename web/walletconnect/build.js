import { build } from 'vite';

/** One file with WalletConnect's library, which the pay page loads when somebody asks for it. */

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
