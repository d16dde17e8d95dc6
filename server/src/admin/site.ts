import { getSite, updateSite } from '@vitrine/contract/appearance';
import { recordEvent } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { handle } from '../platform/http/bind.ts';
import { refuse } from '../platform/http/refuse.ts';
import { readSetting, readSiteName, writeSetting } from './settings.ts';

/** Name and public address; the environment's address wins over the stored one. */
export async function readSite({ db, config }: Pick<Deps, 'db' | 'config'>) {
  const stored = await readSetting(db, 'base_url');
  return {
    site_name: await readSiteName(db),
    base_url: config.baseUrl ?? (typeof stored === 'string' ? stored : null),
  };
}

export const showSite = handle(getSite, async (deps) => ({ status: 200, body: await readSite(deps) }));

export const changeSite = handle(updateSite, async (deps, { caller, body }) => {
  if (body.clear_base_url === true && body.base_url != null) {
    throw refuse(400, 'clear_base_url and base_url exclude each other');
  }
  if (body.base_url != null && !URL.canParse(body.base_url)) throw refuse(400, 'base_url is no address');
  await deps.db.transaction().execute(async (tx) => {
    if (body.site_name != null) await writeSetting(tx, 'site_name', body.site_name.trim());
    if (body.base_url != null) await writeSetting(tx, 'base_url', body.base_url.replace(/\/+$/, ''));
    if (body.clear_base_url === true) await writeSetting(tx, 'base_url', null);
    await recordEvent(tx, caller, {
      event: 'system.site.changed',
      metadata: { site_name: body.site_name ?? null, base_url: body.base_url ?? null },
    });
  });
  return { status: 200, body: await readSite(deps) };
});
