import type { RightsRow } from './rights.ts';
import { resources, rightsColumns } from './rights.ts';
import type { NodeValue } from './values.ts';

/** A resource with everything that comes along with it. */
export interface ResourceRow extends RightsRow {
  creation_date: string | null;
  file_extension: string | null;
  file_path: string | null;
  file_checksum: string | null;
  no_file: number | null;
  geo_lat: number | null;
  geo_long: number | null;
  user_rating: number | null;
  user_rating_count: number | null;
  values: NodeValue[] | null;
  ratings: { user: number | null; rating: number | null }[] | null;
  alternatives: AlternativeRow[] | null;
  licences: Record<string, unknown>[] | null;
  consents: Record<string, unknown>[] | null;
  log: LogRow[] | null;
}

export interface AlternativeRow {
  ref: number;
  name: string | null;
  description: string | null;
  file_name: string | null;
  file_extension: string | null;
  creation_date: string | null;
  alt_type: string | null;
}

export interface LogRow {
  date: string | null;
  user: number | null;
  type: string | null;
  field: number | null;
  notes: string | null;
  diff: string | null;
}

/** More entries of a history than this do not fit into its text; the newest are kept. */
const MOST_LOG = 2000;

const rowsOf = (what: string, from: string) => `(select json_agg(x) from (select ${what} from ${from}) x)`;

/** Reads resources in the order of their numbers, a page at a time. */
export const pageOfResources = `select ${rightsColumns}, r.creation_date, r.file_extension, r.file_path, r.file_checksum, r.no_file,
  r.geo_lat, r.geo_long, r.user_rating, r.user_rating_count,
  ${rowsOf('n.resource_type_field as field, n.ref as node, n.name', 'rs_resource_node x join rs_node n on n.ref = x.node where x.resource = r.ref order by n.resource_type_field, n.order_by nulls first, n.ref')} as values,
  ${rowsOf('u."user", u.rating', 'rs_user_rating u where u.ref = r.ref order by u."user"')} as ratings,
  ${rowsOf('a.ref, a.name, a.description, a.file_name, a.file_extension, a.creation_date, a.alt_type', 'rs_resource_alt_files a where a.resource = r.ref order by a.ref')} as alternatives,
  ${rowsOf('l.*', 'rs_resource_license x join rs_license l on l.ref = x.license where x.resource = r.ref order by l.ref')} as licences,
  ${rowsOf('c.*', 'rs_resource_consent x join rs_consent c on c.ref = x.consent where x.resource = r.ref order by c.ref')} as consents,
  ${rowsOf(`l.date, l."user", l.type, l.resource_type_field as field, l.notes, l.diff`, `rs_resource_log l where l.resource = r.ref order by l.ref desc limit ${MOST_LOG}`)} as log
  from ${resources} and r.ref > $1 order by r.ref limit $2`;
