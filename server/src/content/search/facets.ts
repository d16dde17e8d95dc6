import type { SearchFacets } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { countedValues, readsTeams } from '../../access/search.ts';
import { liveTeam } from '../../access/teams.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { MatchedHits } from './find.ts';

/** Maximum number of values per facet, the most frequent ones. */
const MOST_VALUES = 20;

interface FacetRows {
  kind: SearchFacets['kind'] | null;
  asset_type: SearchFacets['asset_type'] | null;
  tag: SearchFacets['tag'] | null;
  visibility: SearchFacets['visibility'] | null;
  team: SearchFacets['team'] | null;
  fields: SearchFacets['fields'] | null;
}

/** Returns one facet as JSON: values by frequency, from rows with `value` and `label`. */
function counted(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select json_agg(json_build_object('value', value, 'label', label, 'count', n) order by n desc, label, value)
    from (select value, label, count(*) as n from (${rows}) r group by value, label
      order by n desc, label, value limit ${MOST_VALUES}) top)`;
}

/** Terms of the fields that the hits have and the caller may filter by, each field with its most frequent terms. */
function fieldsOf(caller: Caller): RawBuilder<unknown> {
  return sql`(select json_agg(json_build_object('code', code, 'label', label, 'values', entries) order by n desc, code)
    from (
      select code, label, sum(n) as n, json_agg(json_build_object('value', value, 'label', term, 'count', n)
        order by n desc, term, value) filter (where place <= ${MOST_VALUES}) as entries
      from (
        select d.code, d.label, x.value, coalesce(t.label, x.value) as term, count(*) as n,
          row_number() over (partition by d.code order by count(*) desc, coalesce(t.label, x.value), x.value) as place
        from hits h join assets a on a.id = h.id::uuid join asset_field_values v on v.asset_id = a.id
          join fields d on d.id = v.field_id
          cross join lateral unnest(coalesce(v.value_options, array[v.value_text])) as x (value)
          left join field_terms t on t.field_id = d.id and t.value = x.value
        where h.kind = 'asset' and x.value is not null and ${countedValues(caller)}
        group by d.code, d.label, x.value, t.label) terms
      group by code, label order by n desc, code limit ${MOST_VALUES}) top)`;
}

const none = sql`(select null::json)`;

/** Returns the facets of the caller's hits, in one statement over the hits, which the caller may already see. */
export async function readFacets(
  db: Database,
  caller: Caller,
  matched: MatchedHits | null,
): Promise<SearchFacets> {
  const empty: SearchFacets = { kind: [], asset_type: [], tag: [], visibility: [], team: [], fields: [] };
  if (matched === null || matched.ids.length === 0) return empty;
  const hits = sql`select * from unnest(${matched.kinds}::text[], ${matched.ids}::text[]) as hit (kind, id)`;
  const teams = sql`select t.id::text as value, t.name as label from (
      select p.team_id from hits h join posts p on p.id = h.id::uuid where h.kind = 'post'
      union all
      select a.team_id from hits h join assets a on a.id = h.id::uuid where h.kind = 'asset') x
    join teams t on t.id = x.team_id where ${liveTeam}`;
  const { rows } = await sql<FacetRows>`
    with hits as materialized (${hits})
    select ${counted(sql`select kind as value, kind as label from hits`)} as kind,
      ${counted(sql`select a.asset_type as value, y.label from hits h join assets a on a.id = h.id::uuid
        join asset_types y on y.ref = a.asset_type where h.kind = 'asset'`)} as asset_type,
      ${counted(sql`select tag as value, tag as label from (
        select unnest(p.tags) as tag from hits h join posts p on p.id = h.id::uuid where h.kind = 'post'
        union all
        select x.value from hits h join asset_tags x on x.asset_id = h.id::uuid where h.kind = 'asset') x`)} as tag,
      ${counted(sql`select visibility as value, visibility as label from (
        select p.visibility from hits h join posts p on p.id = h.id::uuid where h.kind = 'post'
        union all
        select c.visibility from hits h join collections c on c.id = h.id::uuid where h.kind = 'collection') x`)}
        as visibility,
      ${readsTeams(caller) ? counted(teams) : none} as team,
      ${fieldsOf(caller)} as fields`.execute(db);
  const [row] = rows;
  return {
    kind: row?.kind ?? [],
    asset_type: row?.asset_type ?? [],
    tag: row?.tag ?? [],
    visibility: row?.visibility ?? [],
    team: row?.team ?? [],
    fields: row?.fields ?? [],
  };
}
