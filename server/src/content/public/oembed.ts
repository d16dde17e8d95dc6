import type { Language } from '@vitrine/contract/languages';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { describePage } from './page.ts';
import type { PublicSite } from './site.ts';

interface Asked {
  url?: string;
  format?: string;
  maxwidth?: string;
  maxheight?: string;
}

/** Returns the path of an address of this site, or null for any other address. */
function pathOf(url: string, base: string): string | null {
  const parsed = URL.parse(url);
  const own = URL.parse(base);
  if (parsed === null || own === null || parsed.host !== own.host) return null;
  const before = own.pathname.replace(/\/$/, '');
  return parsed.pathname.startsWith(`${before}/`) ? parsed.pathname.slice(before.length) : null;
}

function limitOf(value: string | undefined): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,6}$/.test(value)) throw refuse('oembed-size-invalid');
  return Number(value);
}

/**
 * Returns the oEmbed response for a page that visitors may know of: `photo` for a post whose picture fits the
 * requested size, otherwise `link`. Throws a 404 for every other address and a 501 for a format other than JSON.
 */
export async function embed(db: Database, site: PublicSite, base: string, asked: Asked, language: Language) {
  if (asked.url === undefined) throw refuse('oembed-url-missing');
  if (asked.format !== undefined && asked.format !== 'json') throw refuse('oembed-format-unsupported');
  const [maxWidth, maxHeight] = [limitOf(asked.maxwidth), limitOf(asked.maxheight)];
  const path = pathOf(asked.url, base);
  const page = path === null ? null : await describePage(db, site, path, language);
  if (page === null) throw notFound();
  const about = {
    version: '1.0',
    title: page.title,
    ...(page.author === null ? {} : { author_name: page.author.name, author_url: base + page.author.path }),
    provider_name: site.name,
    provider_url: base,
  };
  const { width, height, path: picture } = page.picture ?? {};
  if (picture === undefined || width === undefined || height === undefined) return { type: 'link', ...about };
  const url = base + picture;
  if (width > maxWidth || height > maxHeight) return { type: 'link', ...about };
  if (page.kind === 'article') return { type: 'photo', ...about, url, width, height };
  return { type: 'link', ...about, thumbnail_url: url, thumbnail_width: width, thumbnail_height: height };
}
