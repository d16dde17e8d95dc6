import type { Database } from '../../platform/database/pool.ts';
import type { Ledger } from '../imports/ledger.ts';
import { type FieldPlan, planFields } from './field-plan.ts';
import { type GroupPlan, planGroups } from './group-plan.ts';
import type { Installation } from './installation.ts';
import { chooseFields, chooseGroups, type Mapping } from './mapping.ts';
import type { Staging } from './staging.ts';
import { type Survey, surveyAccess } from './survey.ts';

/** What becomes what. */
export interface Plan {
  fields: FieldPlan[];
  groups: GroupPlan[];
  survey: Survey;
  /** Whether alternative files become assets or versions. */
  alternatives: 'related' | 'versions';
  mapping: Mapping;
}

/** Fields that the import itself adds, by their codes. */
export const ownFields = {
  history: 'history',
  otherValues: 'other_values',
  contributor: 'contributor',
  rating: 'rating',
  ratings: 'ratings',
  latitude: 'latitude',
  longitude: 'longitude',
  licences: 'licences',
  consents: 'consents',
} as const;

/** The codes of the library's fields, without those that an earlier run has made of this system. */
async function takenCodes(db: Database, ledger: Ledger, installation: Installation): Promise<Set<string>> {
  const rows = await db.selectFrom('fields').select(['id', 'code']).execute();
  const imported = new Set(installation.fields.flatMap(({ ref }) => ledger.find('field', ref)?.target ?? []));
  const own = Object.values(ownFields);
  return new Set([...rows.filter(({ id }) => !imported.has(id)).map(({ code }) => code), ...own]);
}

export async function makePlan(
  {
    db,
    staging,
    installation,
    ledger,
  }: { db: Database; staging: Staging; installation: Installation; ledger: Ledger },
  mapping: Mapping,
  today: string,
): Promise<Plan> {
  const taken = await takenCodes(db, ledger, installation);
  // The title and the description of assets are columns.
  for (const code of ['title', 'description']) taken.add(code);
  const fields = chooseFields(await planFields(staging, installation, taken), mapping);
  const survey = await surveyAccess(staging, installation, today);
  const groups = chooseGroups(planGroups(installation, survey, fields), mapping);
  return { fields, groups, survey, alternatives: mapping.alternatives ?? 'related', mapping };
}
