import { relateAll } from '../../content/assets/relate.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';

/** Relates the assets of related resources. */
export async function importRelations({ deps, staging, ledger, reporter }: Context): Promise<void> {
  const related = await staging.query<{ resource: number; related: number }>(
    'select distinct resource, related from rs_resource_related where resource > 0 and related > 0',
  );
  const pairs = related.flatMap((pair) => {
    const [one, other] = [pair.resource, pair.related].map((ref) => ledger.find('resource', ref)?.target);
    if (one !== undefined && other !== undefined) return [[one, other] as const];
    const which = `${pair.resource}-${pair.related}`;
    reporter.leaveOut('relation', which, sentence('one of the resources does not exist'));
    return [];
  });
  await deps.db.transaction().execute((tx) => relateAll(tx, pairs));
  reporter.count('related', related.length);
}
