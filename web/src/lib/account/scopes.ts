import type { Token } from '@vitrine/contract/tokens';

type Scope = Token['scopes'][number];

interface InWords {
  readonly label: string;
  readonly explanation: string;
}

/** What a token may do, in words (TOKEN-4). A scope never adds to what the account itself may do. */
export const scopeWords: Readonly<Record<Scope, InWords>> = {
  read: { label: 'Read', explanation: 'See everything you can see.' },
  'posts.write': { label: 'Posts', explanation: 'Make, change and remove posts.' },
  'assets.write': { label: 'Files', explanation: 'Upload files, change and remove them.' },
  'comments.write': { label: 'Comments', explanation: 'Write, change and remove comments.' },
  'fields.admin': { label: 'Fields', explanation: 'Change which details files and collections have.' },
  admin: { label: 'Everything', explanation: 'All you may do yourself, but making tokens.' },
};

/** The scopes as they are offered, narrow ones first. */
export const scopeChoices: readonly Scope[] = [
  'read',
  'posts.write',
  'assets.write',
  'comments.write',
  'fields.admin',
  'admin',
];

/** Scopes as one line: "Read, Posts". */
export function scopesLine(scopes: readonly Scope[]): string {
  return scopeChoices
    .filter((scope) => scopes.includes(scope))
    .map((scope) => scopeWords[scope].label)
    .join(', ');
}
