import type { Texts } from '@vitrine/contract/texts';

const labels = [
  ['terms_url', 'Terms of use'],
  ['privacy_url', 'Privacy'],
  ['imprint_url', 'Imprint'],
  ['contact_url', 'Contact'],
] as const;

/** Returns the operator's links in the order of the footer. */
export function linksOf(texts: Texts): readonly { href: string; label: string }[] {
  return labels.flatMap(([key, label]) => {
    const href = texts[key];
    return href === undefined ? [] : [{ href, label }];
  });
}
