import type { Language } from '@vitrine/contract/languages';
import type { Database } from '../../../platform/database/pool.ts';
import { say } from '../../../platform/language/say.ts';
import { type Sentence, saySentence, sentence } from '../../../platform/language/sentence.ts';
import { readLegacyUser } from './legacy-user.ts';
import type { SourceRow } from './source.ts';
import { type Candidate, type SeenNames, storeBatch } from './store.ts';

/** Number of rows in one transaction. */
const BATCH = 500;

/** Maximum number of kept accounts that are reported by name; on a second run, every account is kept. */
const KEPT_SHOWN = 20;

export interface ImportCounts {
  imported: number;
  kept: number;
  refused: number;
  withoutPassword: number;
  statuses: Map<string, number>;
  /** Number of imported accounts per user group, with the role they received. */
  groups: Map<string, { role: string; users: number }>;
}

export interface ImportOptions {
  source: 'csv' | 'mysql';
  dryRun: boolean;
  /** Role codes by the number of a user group; all other accounts become members. */
  roleOfGroup: ReadonlyMap<string, string>;
  /** Ids of the library's roles by code. */
  roleIds: ReadonlyMap<string, string>;
  now: Date;
  /** Receives one line for each row that was refused, kept or imported incompletely. */
  print(line: string): void;
  language: Language;
}

/**
 * Imports the rows of an earlier system's user table in batches. Reports and counts the rows that were not imported.
 */
export async function importUsers(
  db: Database,
  rows: AsyncIterable<SourceRow>,
  options: ImportOptions,
): Promise<ImportCounts> {
  const { source, dryRun, roleOfGroup, roleIds, now, print, language } = options;
  const counts: ImportCounts = {
    imported: 0,
    kept: 0,
    refused: 0,
    withoutPassword: 0,
    statuses: new Map(),
    groups: new Map(),
  };
  const seen: SeenNames = new Map();
  const refuse = (place: string, reason: Sentence) => {
    counts.refused += 1;
    print(`${place}: ${saySentence(language, reason)}`);
  };
  const roleOf = (group: string) => roleOfGroup.get(group) ?? 'member';

  const store = async (batch: readonly (Candidate & { remarks: Sentence[] })[]) => {
    const fates = await storeBatch(db, batch, { seen, source, dryRun });
    for (const [at, { place, user, remarks }] of batch.entries()) {
      const fate = fates[at];
      const name = JSON.stringify(user.username);
      const group = counts.groups.get(user.group) ?? { role: roleOf(user.group), users: 0 };
      counts.groups.set(user.group, group);
      if (fate?.kind === 'repeated') {
        refuse(place, sentence('{name} is the same name as in {place}', { name, place: fate.sameAs }));
      } else if (fate?.kind === 'kept') {
        counts.kept += 1;
        if (counts.kept <= KEPT_SHOWN)
          print(`${place}: ${say(language, '{name} already exists and was not changed', { name })}`);
      } else {
        counts.imported += 1;
        if (user.passwordHash === null) counts.withoutPassword += 1;
        counts.statuses.set(user.status, (counts.statuses.get(user.status) ?? 0) + 1);
        group.users += 1;
        for (const remark of remarks) print(`${place}: ${name} ${saySentence(language, remark)}`);
      }
    }
  };

  let batch: (Candidate & { remarks: Sentence[] })[] = [];
  for await (const row of rows) {
    const reading = 'fault' in row ? { refused: row.fault } : readLegacyUser(row.fields, now);
    if ('refused' in reading) {
      refuse(row.place, reading.refused);
      continue;
    }
    const { user, remarks } = reading;
    const roleId = roleIds.get(roleOf(user.group));
    if (roleId === undefined) throw new Error(`the library has no role ${roleOf(user.group)}`);
    batch.push({ place: row.place, user, roleId, remarks });
    if (batch.length === BATCH) {
      await store(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await store(batch);
  if (counts.kept > KEPT_SHOWN)
    print(say(language, 'and {count} more already exist', { count: counts.kept - KEPT_SHOWN }));
  return counts;
}
