import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from './context.ts';

/** Asset types of the library itself have numbers below. */
const FIRST_TYPE = 101;

/** Creates an asset type for each resource type. Returns their numbers here by those there. */
export async function importTypes(context: Context): Promise<Map<number, number>> {
  const { deps, installation, ledger, plan, reporter } = context;
  const found = new Map<number, number>();
  for (const { ref, label } of installation.types) {
    const known = ledger.find('type', ref)?.target;
    if (known !== undefined) {
      found.set(ref, Number(known));
      continue;
    }
    const chosen = plan.mapping.types?.[String(ref)]?.label ?? label;
    await deps.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ ref: number }>`
        insert into asset_types (ref, code, label)
        select greatest(max(ref) + 1, ${FIRST_TYPE}::integer), ${`rs-${ref}-${randomUUID().slice(0, 8)}`}, ${chosen} from asset_types
        returning ref`.execute(tx);
      const made = rows[0]?.ref ?? FIRST_TYPE;
      await ledger.record(tx, 'type', ref, made);
      found.set(ref, made);
    });
    reporter.count('resource_types');
  }
  return found;
}

/** Creates a workflow state of assets for each archive state. Returns their ids by the codes there. */
export async function importStates(context: Context): Promise<Map<number, string>> {
  const { deps, installation, ledger, reporter } = context;
  const found = new Map<number, string>();
  for (const [code, label] of installation.states) {
    const known = ledger.find('state', code)?.target;
    if (known !== undefined) {
      found.set(code, known);
      continue;
    }
    const id = randomUUID();
    await deps.db.transaction().execute(async (tx) => {
      await sql`insert into workflow_states (id, domain, code, label, sort_order, moves_to)
        select ${id}::uuid, 'asset', ${`rs-${code}`}, ${label.slice(0, 200)}, coalesce(max(sort_order), 0) + 1,
          array_agg(code order by sort_order) from workflow_states where domain = 'asset'`.execute(tx);
      await ledger.record(tx, 'state', code, id);
    });
    found.set(code, id);
    reporter.count('archive_states');
  }
  return found;
}
