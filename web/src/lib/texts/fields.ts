import type { TextKey } from '@vitrine/contract/texts';

/** A field of the form: its label and its key in the texts. */
export interface TextField {
  readonly key: TextKey;
  readonly label: string;
  readonly hint: string;
  readonly lines: 'one' | 'many' | 'address';
}

export const textFields: readonly TextField[] = [
  { key: 'welcome_title', label: 'Welcome, title', hint: 'Above the feed, for visitors.', lines: 'one' },
  { key: 'welcome_text', label: 'Welcome, text', hint: 'Below that title.', lines: 'many' },
  { key: 'sign_in_title', label: 'Sign-in, title', hint: 'Instead of “Sign in to …”.', lines: 'one' },
  {
    key: 'sign_in_help',
    label: 'Sign-in, help',
    hint: 'For example, whom to ask for an account.',
    lines: 'many',
  },
  { key: 'empty_feed', label: 'Empty feed', hint: 'Shown until something is published.', lines: 'many' },
  { key: 'footer', label: 'Footer', hint: 'At the end of every page.', lines: 'many' },
  { key: 'terms_url', label: 'Terms of use', hint: 'Linked from the footer.', lines: 'address' },
  { key: 'privacy_url', label: 'Privacy', hint: 'Linked from the footer.', lines: 'address' },
  { key: 'imprint_url', label: 'Imprint', hint: 'Linked from the footer.', lines: 'address' },
  { key: 'contact_url', label: 'Contact', hint: 'Linked from the footer.', lines: 'address' },
];

export type Draft = Record<TextKey, string>;

/** Returns the form of the stored texts; missing texts are empty. */
export function draftOf(texts: Partial<Draft>): Draft {
  return {
    welcome_title: texts.welcome_title ?? '',
    welcome_text: texts.welcome_text ?? '',
    sign_in_title: texts.sign_in_title ?? '',
    sign_in_help: texts.sign_in_help ?? '',
    empty_feed: texts.empty_feed ?? '',
    footer: texts.footer ?? '',
    terms_url: texts.terms_url ?? '',
    privacy_url: texts.privacy_url ?? '',
    imprint_url: texts.imprint_url ?? '',
    contact_url: texts.contact_url ?? '',
  };
}

/** Returns the texts as pages would receive them: trimmed, without empty ones. */
export function textsOf(draft: Draft): Partial<Draft> {
  return Object.fromEntries(
    Object.entries(draft).flatMap(([key, text]) => (text.trim() === '' ? [] : [[key, text.trim()]])),
  );
}
