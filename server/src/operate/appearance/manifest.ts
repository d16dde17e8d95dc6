import { themeBackgrounds } from '@vitrine/contract/accents';
import type { FastifyInstance } from 'fastify';
import type { Budgets } from '../../core/budgets.ts';
import type { Deps } from '../../core/deps.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { refuseMethods } from '../../platform/http/methods.ts';
import { readPublic } from './show.ts';

/** The smallest picture that systems take as the icon of an app. */
const LEAST_ICON = 144;

const [background] = themeBackgrounds.light;

/** Where browsers send what other apps share. */
const sharePath = '/share';

const icon = (name: string, size: number, purpose: 'any' | 'maskable') => ({
  src: `/icons/${name}.png`,
  sizes: `${size}x${size}`,
  type: 'image/png',
  purpose,
});

const usualIcons = [
  icon('app-192', 192, 'any'),
  icon('app-512', 512, 'any'),
  icon('maskable-512', 512, 'maskable'),
];

/**
 * Serves `/manifest.webmanifest`, with which browsers install the pages as an app (APP-1). It is the same for every
 * caller and says what `GET /appearance` says.
 */
export function serveManifest(
  server: FastifyInstance,
  deps: Pick<Deps, 'db' | 'config' | 'encoder'>,
  budgets: Budgets,
): void {
  const path = '/manifest.webmanifest';
  server.get(path, async (request, reply) => {
    await budgets.spendOnEntry({}, clientAddress(request), null);
    const { site_name, logo_url, logo_width = 0, logo_height = 0 } = await readPublic(deps);
    const isIcon = logo_url !== undefined && logo_width === logo_height && logo_width >= LEAST_ICON;
    const own = isIcon ? [{ src: logo_url, sizes: `${logo_width}x${logo_height}`, purpose: 'any' }] : [];
    const manifest = {
      id: '/',
      name: site_name,
      short_name: site_name,
      start_url: '/',
      scope: '/',
      display: 'standalone',
      background_color: background,
      theme_color: background,
      icons: [...own, ...usualIcons],
      share_target: {
        action: sharePath,
        method: 'POST',
        enctype: 'multipart/form-data',
        params: { files: [{ name: 'files', accept: ['*/*', 'image/*', 'video/*', 'audio/*'] }] },
      },
    };
    return reply
      .header('cache-control', 'no-cache')
      .type('application/manifest+json; charset=utf-8')
      .send(JSON.stringify(manifest));
  });
  refuseMethods(server, path, ['GET']);
  // The service worker receives what other apps share. Without it, the page says that nothing arrived (APP-7).
  server.post(sharePath, async (request, reply) => {
    await budgets.spendOnEntry({}, clientAddress(request), null);
    return reply.redirect('/new?shared=0', 303);
  });
}
