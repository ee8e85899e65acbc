import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Nothing is inlined: the policy of the pages allows files of their own origin alone.
export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  build: { license: { fileName: 'licenses.md' }, assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, target: 'es2023' },
});
