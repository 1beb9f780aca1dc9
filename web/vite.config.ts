import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page, built to `dist/web`, from where the server serves it. Nothing in it comes from elsewhere, and nothing is inline. */
export default defineConfig({
  root: import.meta.dirname,
  // Found from where the page begins, which the server says in `<base>`.
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
