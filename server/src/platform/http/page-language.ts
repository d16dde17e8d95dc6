import { type Language, languageCookie, languageFor } from '@vitrine/contract/languages';
import type { FastifyRequest } from 'fastify';

/** Returns the language tags of an `Accept-Language` header, the preferred first; without those of quality 0. */
function preferredTags(header: string): string[] {
  return header
    .slice(0, 1000)
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { tag, quality: quality === undefined ? 1 : Number(quality) || 0 };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}

/** Returns the language in which a page is served: the one that the person chose, else the browser's, else English. */
export function pageLanguage({ cookies, headers }: Pick<FastifyRequest, 'cookies' | 'headers'>): Language {
  const tags = [cookies[languageCookie] ?? '', ...preferredTags(headers['accept-language'] ?? '')];
  for (const tag of tags) {
    const language = tag === '' ? undefined : languageFor(tag);
    if (language !== undefined) return language;
  }
  return 'en';
}
