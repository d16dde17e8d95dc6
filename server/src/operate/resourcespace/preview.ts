import type { Language } from '@vitrine/contract/languages';
import pLimit from 'p-limit';
import { say, sayCount } from '../../platform/language/say.ts';
import type { Sentence } from '../../platform/language/sentence.ts';
import { type ReportEntry, section } from '../imports/report.ts';
import type { ThingKind } from '../imports/report-words.ts';
import { isTitle } from './fields.ts';
import type { FileFinder } from './file-paths.ts';
import type { Installation } from './installation.ts';
import { uncarriedKeys } from './links.ts';
import type { Plan } from './plan.ts';
import type { Staging } from './staging.ts';
import { uncarriedComments, uncarriedOfGroup, uncarriedOfUser, uncarriedSettings } from './uncarried.ts';

/** How many files a dry run looks for; in a store on a network, looking for all of them takes hours. */
const MOST_LOOKED_FOR = 20_000;

/** How many files are looked for at once, because a store on a network responds slowly. */
const LOOKED_FOR_AT_ONCE = 16;

async function missingFiles(
  staging: Staging,
  files: FileFinder,
): Promise<{ looked: number; missing: number[] }> {
  const rows = await staging.query<{ ref: number; file_extension: string; file_path: string | null }>(
    `select ref, file_extension, file_path from rs_resource where ref > 0 and coalesce(no_file, 0) <> 1
      and coalesce(file_extension, '') <> '' order by ref limit ${MOST_LOOKED_FOR}`,
  );
  const limit = pLimit(LOOKED_FOR_AT_ONCE);
  const missing = await limit.map(rows, async ({ ref, file_extension, file_path }) => {
    const isSynced = file_path !== null && file_path.trim() !== '';
    const found = isSynced ? await files.synced(file_path) : await files.original(ref, file_extension);
    return found === null ? [ref] : [];
  });
  return { looked: rows.length, missing: missing.flat() };
}

const counted = [
  'resource',
  'node',
  'resource_alt_files',
  'collection',
  'comment',
  'annotation',
  'external_access_keys',
  'request',
  'resource_log',
];

/** Returns what an import would do, as text. */
export async function previewText(
  language: Language,
  staging: Staging,
  installation: Installation,
  plan: Plan,
  { files, today }: { files: FileFinder; today: string },
): Promise<string> {
  const lines = [say(language, 'Rows:')];
  for (const table of counted) {
    const [row] = await staging.query<{ n: number }>(`select count(*) as n from rs_${table}`);
    lines.push(`  ${table}: ${row?.n ?? 0}`);
  }
  lines.push('', say(language, 'Groups:'));
  for (const { group, role, code, team } of plan.groups) {
    const users = installation.users.filter((user) => user.group === group.ref).length;
    const what = sayCount(
      language,
      users,
      ['# account, role {role}, team {team}', '# accounts, role {role}, team {team}'],
      { role: role === 'own' ? code : role, team: String(team) },
    );
    lines.push(`  ${group.ref} ${group.label}: ${what}`);
  }
  lines.push(
    '',
    say(language, 'Resource types:'),
    ...installation.types.map(({ ref, label }) => `  ${ref} ${label}`),
  );
  lines.push('', say(language, 'Fields:'));
  for (const own of plan.fields) {
    const { field, code, type, isImported, readers } = own;
    const who =
      readers === null
        ? say(language, 'read by all groups')
        : readers.length === 0
          ? say(language, 'read by administrators only')
          : say(language, 'read by the groups {groups}', { groups: readers.join(', ') });
    const target = !isImported
      ? say(language, 'left out')
      : isTitle(own, { installation })
        ? say(language, 'the title of assets')
        : `${code} (${type})`;
    lines.push(`  ${field.ref} ${field.label}: ${target}, ${who}`);
  }
  const { kinds, narrowed } = plan.survey;
  lines.push(
    '',
    say(language, 'Access:'),
    `  ${say(language, '{count} for every account', { count: kinds.everyone })}`,
    `  ${say(language, '{count} known to every account, shown to some', { count: kinds.withheld })}`,
    `  ${say(language, '{count} known and shown to some', { count: kinds.hidden })}`,
    `  ${say(language, '{count} in another state than active, shared with those who saw them', { count: kinds.closed })}`,
    `  ${say(language, '{count} that some accounts saw restricted and will not see', { count: narrowed })}`,
  );
  const names = Map.groupBy(installation.users, ({ username }) => username.toLowerCase());
  const doubled = [...names.values()].filter((users) => users.length > 1);
  if (doubled.length > 0)
    lines.push(
      '',
      say(language, 'Accounts that differ by case only, of which the first is imported:'),
      ...doubled.map((users) => `  ${users.map(({ ref, username }) => `${ref} ${username}`).join(', ')}`),
    );
  const { looked, missing } = await missingFiles(staging, files);
  const found = say(language, 'Files: looked for {looked}, {missing} missing', {
    looked,
    missing: missing.length,
  });
  lines.push('', missing.length === 0 ? found : `${found}: ${missing.slice(0, 100).join(', ')}`);
  lines.push(...section(language, say(language, 'Left out'), await uncarried(staging, installation, today)));
  return `${lines.join('\n')}\n`;
}

/** Returns what will have no counterpart, as far as it is known before anything is imported. */
async function uncarried(
  staging: Staging,
  installation: Installation,
  today: string,
): Promise<ReportEntry[]> {
  const entryOf = (kind: ThingKind, ref: number) => (reason: Sentence) => ({ kind, id: String(ref), reason });
  return [
    ...[...installation.groups.values()].flatMap((group) =>
      uncarriedOfGroup(group).map(entryOf('group', group.ref)),
    ),
    ...installation.users.flatMap((user) =>
      uncarriedOfUser(user, installation).map(entryOf('user', user.ref)),
    ),
    ...(await uncarriedComments(staging)),
    ...(await uncarriedKeys(staging, today)),
    ...(await uncarriedSettings(staging)),
  ];
}
