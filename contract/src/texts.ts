import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { translationsOf } from './translations.ts';
import { closed, nullable, propertiesOf } from './values.ts';

/**
 * Places for the operator's own texts, which are added to a page or replace its default. Plain text, never markup.
 */
export const wordKeys = [
  'welcome_title',
  'welcome_text',
  'sign_in_title',
  'sign_in_help',
  'empty_feed',
  'footer',
] as const;
/** Addresses that pages link to. */
export const addressKeys = ['terms_url', 'privacy_url', 'imprint_url', 'contact_url'] as const;

export type TextKey = (typeof wordKeys)[number] | (typeof addressKeys)[number];

const Text = Type.Optional(Type.String({ maxLength: 2000 }));

const words = propertiesOf(wordKeys, Text);

/** The operator's texts without addresses, in one language. */
export const TranslatedTexts = closed(words);

/** The operator's texts in other languages (LANGUAGE-5). */
export const TextTranslations = translationsOf(TranslatedTexts);

/** Contains only the texts that are set. */
export const Texts = closed({
  ...words,
  ...propertiesOf(addressKeys, Text),
  translations: Type.Optional(TextTranslations),
});
export type Texts = Static<typeof Texts>;

export const AdminTexts = closed({ texts: Texts });

const Written = Type.Optional(nullable(Type.String({ maxLength: 2000 })));
/** An http(s) address without white space; an empty string removes it. */
const Address = Type.Optional(
  nullable(Type.String({ maxLength: 2000, pattern: '^(https?://[^\\s/?#]+[^\\s]*)?$' })),
);

export const getAdminTexts = operation({
  id: 'getAdminTexts',
  method: 'GET',
  path: '/admin/system/texts',
  tag: 'System',
  summary: 'Get the texts of the library',
  description: 'Returns the operator’s own texts for editing.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: AdminTexts },
  errors: [],
});

export const setTexts = operation({
  id: 'setTexts',
  method: 'PUT',
  path: '/admin/system/texts',
  tag: 'System',
  summary: 'Set the texts of the library',
  description:
    'Replaces all texts and their translations. A text that is omitted or empty returns to the default.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: {
    texts: { welcome_title: 'Welcome to Harbour Studio', imprint_url: 'https://example.com/imprint' },
  },
  body: closed({
    texts: closed({
      ...propertiesOf(wordKeys, Written),
      ...propertiesOf(addressKeys, Address),
      translations: Type.Optional(nullable(TextTranslations)),
    }),
  }),
  responses: { 200: AdminTexts },
  errors: ['text-address-invalid'],
});
