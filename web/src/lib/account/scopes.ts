import type { Token } from '@vitrine/contract/tokens';

type Scope = Token['scopes'][number];

interface InWords {
  readonly label: string;
  readonly explanation: string;
}

/** Labels of the token scopes (TOKEN-4). A scope never adds to the rights of the account. */
export const scopeWords: Readonly<Record<Scope, InWords>> = {
  read: { label: 'Read', explanation: 'See everything you can see.' },
  'posts.write': { label: 'Posts', explanation: 'Create, change and delete posts.' },
  'assets.write': { label: 'Files', explanation: 'Upload, change and delete files.' },
  'comments.write': { label: 'Comments', explanation: 'Write, change and delete comments.' },
  'fields.admin': { label: 'Fields', explanation: 'Change the fields of files and collections.' },
  admin: { label: 'Everything', explanation: 'Everything you can do yourself, except creating tokens.' },
};

/** The scopes in the order of the form, narrow ones first. */
export const scopeChoices: readonly Scope[] = [
  'read',
  'posts.write',
  'assets.write',
  'comments.write',
  'fields.admin',
  'admin',
];

/** Lists scopes in one line: "Read, Posts". */
export function scopesLine(scopes: readonly Scope[]): string {
  return scopeChoices
    .filter((scope) => scopes.includes(scope))
    .map((scope) => scopeWords[scope].label)
    .join(', ');
}
