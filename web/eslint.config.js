import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

const parentFolders = { regex: String.raw`^\.\./(?!app\.css$)`, message: "Import from '#lib/...'." };
/** The package's entry point adds 4,000 modules to each build. */
const allIcons = { regex: '^@lucide/svelte$', message: "Import each icon from '@lucide/svelte/icons/...'." };

/** Lints Svelte components and rune modules. Biome lints all other code, svelte-check reports compiler warnings. */
export default defineConfig(
  { ignores: ['build/', '.svelte-kit/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      // The type check finds undefined names, with knowledge of globals.
      'no-undef': 'off',
      // The app is always at the root of its host, so no address needs the base path that resolve() adds.
      'svelte/no-navigation-without-resolve': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'no-restricted-imports': ['error', { patterns: [parentFolders, allIcons] }],
    },
  },
  {
    files: ['src/lib/ui/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            allIcons,
            {
              regex: String.raw`^(\.\./|@vitrine/|#lib/(?!ui/|time/|problems\.ts$|service-mutation\.svelte\.ts$))`,
              message: 'Controls know no nouns.',
            },
          ],
        },
      ],
    },
  },
);
