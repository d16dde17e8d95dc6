import type { AccessOptions, FilterRule, Profile, SearchFilter } from './access.ts';
import { type Permissions, readPermissions } from './permissions.ts';
import type { Settings } from './settings.ts';
import type { Staging } from './staging.ts';
import { labelOf } from './texts.ts';

/** The parts of an installation that are few and needed everywhere. */
export interface Installation {
  /** The version of its schema; 0 if unknown. */
  level: number;
  language: string;
  settings: Settings;
  groups: ReadonlyMap<number, Group>;
  users: readonly User[];
  types: readonly ResourceType[];
  fields: readonly Field[];
  states: ReadonlyMap<number, string>;
  access: AccessOptions;
  titleField: number;
  fileNameField: number;
  deletionState: number;
}

export interface Group {
  ref: number;
  label: string;
  permissions: Permissions;
  filter: SearchFilter;
  ipRestrict: string | null;
  /** PHP code, which is never run. */
  hasCode: boolean;
  resourceDefaults: string | null;
}

export interface User {
  ref: number;
  username: string;
  password: string | null;
  fullname: string | null;
  email: string | null;
  group: number | null;
  approved: number | null;
  expires: string | null;
  comments: string | null;
  profile: string | null;
  ipRestrict: string | null;
  lang: string | null;
  created: string | null;
  filter: SearchFilter | null;
}

interface ResourceType {
  ref: number;
  label: string;
  order: number;
}

export interface Field {
  ref: number;
  name: string;
  label: string;
  /** The number of its kind: 0 text line, 7 category tree, and so on. */
  kind: number;
  isNumeric: boolean;
  isActive: boolean;
  isRequired: boolean;
  isSearchable: boolean;
  isReadOnly: boolean;
  showsOnUpload: boolean;
  showsInSearch: boolean;
  help: string;
  pattern: string | null;
  tab: string | null;
  order: number;
  /** Empty for all types. */
  types: number[];
}

/** The version of the schema from which text filters are no longer evaluated. */
const WITHOUT_TEXT_FILTERS = 20;

interface FilterRows {
  conditions: ReadonlyMap<number, number>;
  rules: ReadonlyMap<number, FilterRule[]>;
}

async function readFilters(staging: Staging): Promise<FilterRows> {
  const filters = await staging.query<{ ref: number; filter_condition: number | null }>(
    'select ref, filter_condition from rs_filter',
  );
  const rows = await staging.query<{ filter: number; on: number[] | null; off: number[] | null }>(`
    select r.filter, array_agg(n.node) filter (where n.node_condition = 1) as on,
      array_agg(n.node) filter (where n.node_condition <> 1 or n.node_condition is null) as off
    from rs_filter_rule r join rs_filter_rule_node n on n.filter_rule = r.ref group by r.filter, r.ref`);
  const rules = new Map<number, FilterRule[]>();
  for (const { filter, on, off } of rows) {
    const rule = { on: on ?? [], off: off ?? [] };
    rules.set(filter, [...(rules.get(filter) ?? []), rule]);
  }
  return { conditions: new Map(filters.map((row) => [row.ref, row.filter_condition ?? 1])), rules };
}

const conditionOf = { 1: 'all', 2: 'none', 3: 'any' } as const;

function filterOf(rows: FilterRows, id: number | null, text: string | null, level: number): SearchFilter {
  if (id !== null && id > 0) {
    const condition = conditionOf[(rows.conditions.get(id) ?? 0) as keyof typeof conditionOf];
    const rules = rows.rules.get(id) ?? [];
    return condition === undefined || rules.length === 0
      ? { kind: 'unknown' }
      : { kind: 'rules', condition, rules };
  }
  if ((text ?? '').trim() === '') return { kind: 'none' };
  return { kind: level >= WITHOUT_TEXT_FILTERS ? 'text' : 'unknown' };
}

interface GroupRow {
  ref: number;
  name: string | null;
  permissions: string | null;
  parent: number | null;
  search_filter: string | null;
  search_filter_id: number | null;
  inherit_flags: string | null;
  ip_restrict: string | null;
  config_options: string | null;
  resource_defaults: string | null;
}

/** The permissions of a group, which may be those of its parent. */
function permissionsOf(
  row: GroupRow,
  rows: ReadonlyMap<number, GroupRow>,
  seen: readonly number[] = [],
): string | null {
  const inherits = (row.inherit_flags ?? '').split(',').some((flag) => flag.trim() === 'permissions');
  const parent = row.parent === null ? undefined : rows.get(row.parent);
  if (!inherits || parent === undefined) return row.permissions;
  return seen.includes(parent.ref) ? '' : permissionsOf(parent, rows, [...seen, row.ref]);
}

const isFilled = (text: string | null) => text !== null && text.trim() !== '';

async function readGroups(staging: Staging, filters: FilterRows, level: number, language: string) {
  const rows = await staging.query<GroupRow>('select * from rs_usergroup where ref is not null order by ref');
  const byRef = new Map(rows.map((row) => [row.ref, row]));
  return new Map(
    rows.map((row): [number, Group] => [
      row.ref,
      {
        ref: row.ref,
        label: labelOf(row.name ?? '', language) || `Group ${row.ref}`,
        permissions: readPermissions(permissionsOf(row, byRef)),
        filter: filterOf(filters, row.search_filter_id, row.search_filter, level),
        ipRestrict: isFilled(row.ip_restrict) ? row.ip_restrict : null,
        hasCode: isFilled(row.config_options),
        resourceDefaults: isFilled(row.resource_defaults) ? row.resource_defaults : null,
      },
    ]),
  );
}

interface UserRow {
  ref: number;
  username: string | null;
  password: string | null;
  fullname: string | null;
  email: string | null;
  usergroup: number | null;
  approved: number | null;
  account_expires: string | null;
  comments: string | null;
  profile_text: string | null;
  ip_restrict: string | null;
  lang: string | null;
  created: string | null;
  search_filter_override: string | null;
  search_filter_o_id: number | null;
}

async function readUsers(staging: Staging, filters: FilterRows, level: number): Promise<User[]> {
  const rows = await staging.query<UserRow>(
    'select * from rs_user where ref is not null and username is not null order by ref',
  );
  return rows.map((row) => {
    const own = filterOf(filters, row.search_filter_o_id, row.search_filter_override, level);
    return {
      ref: row.ref,
      username: row.username ?? '',
      password: row.password,
      fullname: row.fullname,
      email: row.email,
      group: row.usergroup,
      approved: row.approved,
      expires: row.account_expires,
      comments: isFilled(row.comments) ? row.comments : null,
      profile: isFilled(row.profile_text) ? row.profile_text : null,
      ipRestrict: isFilled(row.ip_restrict) ? row.ip_restrict : null,
      lang: row.lang,
      created: row.created,
      filter: own.kind === 'none' ? null : own,
    };
  });
}

interface FieldRow {
  ref: number;
  name: string | null;
  title: string | null;
  type: number | null;
  field_constraint: number | null;
  order_by: number | null;
  keywords_index: number | null;
  global: number | null;
  required: number | null;
  advanced_search: number | null;
  help_text: string | null;
  hide_when_uploading: number | null;
  regexp_filter: string | null;
  read_only: number | null;
  active: number | null;
  tab: number | null;
  tab_name: string | null;
  resource_type: number | null;
  types: number[] | null;
}

/** PHP stores a backslash of a pattern as this word. */
function patternOf(stored: string | null): string | null {
  if (stored === null || stored.trim() === '') return null;
  return stored
    .replaceAll('SLASH', '\\')
    .replace(/^\^/, '')
    .replace(/(?<!\\)\$$/, '');
}

async function readFields(staging: Staging, language: string): Promise<Field[]> {
  const rows = await staging.query<FieldRow>(`
    select f.*, t.name as tab_name, (select array_agg(distinct x.resource_type)
      from rs_resource_type_field_resource_type x where x.resource_type_field = f.ref) as types
    from rs_resource_type_field f left join rs_tab t on t.ref = f.tab where f.ref is not null order by f.ref`);
  return rows.map((row) => {
    const isGlobal = row.global === 1 || (row.global === null && (row.resource_type ?? 0) === 0);
    const own = row.types ?? ((row.resource_type ?? 0) > 0 ? [row.resource_type ?? 0] : []);
    return {
      ref: row.ref,
      name: row.name ?? '',
      label: labelOf(row.title ?? '', language) || `Field ${row.ref}`,
      kind: row.type ?? 0,
      isNumeric: row.field_constraint === 1,
      isActive: row.active !== 0,
      isRequired: row.required === 1,
      isSearchable: row.keywords_index !== 0,
      isReadOnly: row.read_only === 1,
      showsOnUpload: row.hide_when_uploading !== 1,
      showsInSearch: row.advanced_search !== 0,
      help: labelOf(row.help_text ?? '', language),
      pattern: patternOf(row.regexp_filter),
      tab: row.tab_name === null ? null : labelOf(row.tab_name, language),
      order: row.order_by ?? 0,
      types: isGlobal ? [] : own.toSorted((a, b) => a - b),
    };
  });
}

const stockStates = new Map([
  [-2, 'Pending submission'],
  [-1, 'Pending review'],
  [0, 'Active'],
  [1, 'Waiting to be archived'],
  [2, 'Archived'],
  [3, 'Deleted'],
]);

/** Reads what is needed of the staged tables everywhere. Settings in the database take precedence over the file. */
export async function readInstallation(staging: Staging, settings: Settings): Promise<Installation> {
  const language = settings.defaultlanguage ?? 'en';
  const [sysvar] = await staging.query<{ value: string | null }>(
    "select value from rs_sysvars where name = 'upgrade_system_level'",
  );
  const level = Number(sysvar?.value ?? 0) || 0;
  const filters = await readFilters(staging);
  const types = await staging.query<{ ref: number; name: string | null; order_by: number | null }>(
    'select ref, name, order_by from rs_resource_type where ref is not null order by ref',
  );
  const states = await staging.query<{ code: number; name: string | null }>(
    'select code, name from rs_archive_states where code is not null order by code',
  );
  return {
    level,
    language,
    settings,
    groups: await readGroups(staging, filters, level, language),
    users: await readUsers(staging, filters, level),
    types: types.map(({ ref, name, order_by }) => ({
      ref,
      label: labelOf(name ?? '', language) || `Type ${ref}`,
      order: order_by ?? 0,
    })),
    fields: await readFields(staging, language),
    states: new Map([
      ...stockStates,
      ...states.map(({ code, name }): [number, string] => [
        code,
        labelOf(name ?? '', language) || stockStates.get(code) || `State ${code}`,
      ]),
    ]),
    access: {
      openForContributor: settings.open_access_for_contributor === true,
      uploaderViewOverride: settings.uploader_view_override !== false,
    },
    titleField: settings.view_title_field ?? 8,
    fileNameField: settings.filename_field ?? 51,
    deletionState: settings.resource_deletion_state ?? 3,
  };
}

/** A group that does not exist allows nothing. */
const noGroup: Profile = {
  group: 0,
  permissions: readPermissions('z-2,z-1,z0,z1,z2,z3'),
  filter: { kind: 'unknown' },
};

/** Returns the rights of each account, as profiles that accounts of one group share. */
export function profilesOf({ groups, users }: Installation): Map<number, Profile> {
  const ofGroup = new Map(
    [...groups.values()].map(({ ref, permissions, filter }): [number, Profile] => [
      ref,
      { group: ref, permissions, filter },
    ]),
  );
  return new Map(
    users.map((user) => {
      const profile = ofGroup.get(user.group ?? 0) ?? noGroup;
      return [user.ref, user.filter === null ? profile : { ...profile, filter: user.filter }];
    }),
  );
}
