import { sql } from 'kysely';

/** Rich text of a value `v` as it is read, without its markup; a blank for each tag. */
export const plainText = sql<string>`replace(replace(replace(replace(
  regexp_replace(v.value_text, '<[^>]*>', ' ', 'g'), '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&')`;
