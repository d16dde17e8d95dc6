import { refusePage } from '#lib/page-problems.ts';
import { browserLayout } from '#lib/posts/layouts.ts';
import type { LayoutLoad } from './$types';

/** Loads the presentation of the library, without the signed-in user. */
export const load: LayoutLoad = async ({ parent, depends }) => {
  depends('vitrine:visitor-state');
  const { service } = await parent();
  const appearance = await service.client
    .call('getAppearance')
    .catch((failure: unknown) => refusePage(failure));
  return { visitorState: { appearance, browserLayout: browserLayout() } };
};
