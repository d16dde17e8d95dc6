import { getSite, updateSite } from '@vitrine/contract/appearance';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle, type RequestOf } from '../../core/handle.ts';
import { readSite, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { whyLockedOut } from '../../platform/http/origin.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';

export const showSite = handle(getSite, async (deps) => ({ status: 200, body: await readSite(deps) }));

type SiteChange = RequestOf<typeof updateSite>['body'];

/** Refuses an address under which the current page would stop working, unless `force` is set. */
function checkNotLockedOut({ config }: Pick<Deps, 'config'>, body: SiteChange, http: HttpFacts): void {
  const changes = body.base_url != null || body.clear_base_url === true;
  if (config.baseUrl !== null || body.force === true || !changes) return;
  const why = whyLockedOut(
    { origin: http.header('origin'), host: http.header('host') },
    body.base_url ?? null,
  );
  if (why !== null) throw refuse('address-locks-out', { reason: why });
}

export const changeSite = handle(updateSite, async (deps, { caller, body, http }) => {
  const { base_url: baseUrl } = patchOf(body, ['base_url']);
  if (body.base_url != null && !URL.canParse(body.base_url))
    throw refuse('address-invalid', { property: 'base_url' });
  // Bearer tokens are not subject to the origin check, so a client with one can correct the address.
  if (caller.token === null) checkNotLockedOut(deps, body, http);
  await deps.db.transaction().execute(async (tx) => {
    if (body.site_name != null) await writeSetting(tx, 'site_name', body.site_name.trim());
    if (baseUrl !== undefined) await writeSetting(tx, 'base_url', baseUrl?.replace(/\/+$/, '') ?? null);
    if (body.default_sensitivity != null) {
      await writeSetting(tx, 'default_sensitivity', body.default_sensitivity);
    }
    if (body.indexing != null) await writeSetting(tx, 'indexing', body.indexing);
    await recordEvent(tx, caller, {
      event: 'system.site.changed',
      metadata: {
        site_name: body.site_name ?? null,
        base_url: body.base_url ?? null,
        default_sensitivity: body.default_sensitivity ?? null,
        indexing: body.indexing ?? null,
      },
    });
  });
  return { status: 200, body: await readSite(deps) };
});
