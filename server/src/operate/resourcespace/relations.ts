import { relate } from '../../content/assets/relate.ts';
import type { Context } from './context.ts';

/** Relates the assets of related resources. */
export async function importRelations({ deps, staging, ledger, reporter }: Context): Promise<void> {
  const related = await staging.query<{ resource: number; related: number }>(
    'select distinct resource, related from rs_resource_related where resource > 0 and related > 0',
  );
  await deps.db.transaction().execute(async (tx) => {
    for (const pair of related) {
      const [one, other] = [pair.resource, pair.related].map((ref) => ledger.find('resource', ref)?.target);
      if (one !== undefined && other !== undefined) await relate(tx, one, other);
      else
        reporter.leaveOut(
          'relation',
          `${pair.resource}-${pair.related}`,
          'one of the resources does not exist',
        );
    }
  });
  reporter.count('related', related.length);
}
