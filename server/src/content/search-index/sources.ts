import type { SearchKind, SearchQuery } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { fromOrigin } from '../../access/federation.ts';

/** The filters of a search besides words. */
export type Narrowing = Pick<SearchQuery, 'tag' | 'asset_type' | 'team_id' | 'origin' | 'owner_ref'> & {
  /** Predicates on `assets a` for the query's filters. */
  fields: readonly RawBuilder<boolean>[];
};

/** The tables of a kind, with the aliases that the rules use. */
export interface Source {
  from: RawBuilder<unknown>;
  alias: string;
  /** Their key, and their indexed time. */
  id: RawBuilder<unknown>;
  at: RawBuilder<unknown>;
  /** Null where the filters cannot apply to a row of this kind. */
  narrow(narrowing: Narrowing): RawBuilder<boolean>[] | null;
}

const all: readonly RawBuilder<boolean>[] = [];

function ofOrigin(alias: string, { origin }: Narrowing): RawBuilder<boolean>[] {
  return origin === undefined ? [] : [fromOrigin(alias, origin)];
}

function asks({ tag, asset_type, team_id, origin, owner_ref, fields }: Narrowing) {
  return {
    tags: (tag?.length ?? 0) > 0,
    assetType: asset_type !== undefined,
    team: team_id !== undefined,
    origin: origin !== undefined,
    owner: owner_ref !== undefined,
    fields: fields.length > 0,
  };
}

export const sources: Readonly<Record<SearchKind, Source>> = {
  post: {
    from: sql`posts p`,
    alias: 'p',
    id: sql`p.id`,
    at: sql`p.posted_at`,
    narrow(narrowing) {
      const asked = asks(narrowing);
      if (asked.assetType || asked.fields) return null;
      return [
        ...all,
        ...(asked.tags ? [sql<boolean>`p.tags @> ${narrowing.tag}::text[]`] : []),
        ...(asked.team ? [sql<boolean>`p.team_id = ${narrowing.team_id}`] : []),
        ...ofOrigin('p', narrowing),
        ...(asked.owner ? [sql<boolean>`p.author_user_ref = ${narrowing.owner_ref}`] : []),
      ];
    },
  },
  asset: {
    from: sql`assets a`,
    alias: 'a',
    id: sql`a.id`,
    at: sql`a.created_at`,
    narrow(narrowing) {
      const asked = asks(narrowing);
      return [
        ...narrowing.fields,
        ...(narrowing.tag ?? []).map(
          (tag) =>
            sql<boolean>`exists (select from asset_tags x where x.asset_id = a.id and x.value = ${tag})`,
        ),
        ...(asked.assetType ? [sql<boolean>`a.asset_type = ${narrowing.asset_type}`] : []),
        ...(asked.team ? [sql<boolean>`a.team_id = ${narrowing.team_id}`] : []),
        ...ofOrigin('a', narrowing),
        ...(asked.owner ? [sql<boolean>`a.owner_user_ref = ${narrowing.owner_ref}`] : []),
      ];
    },
  },
  collection: {
    from: sql`collections c`,
    alias: 'c',
    id: sql`c.id`,
    at: sql`c.created_at`,
    narrow(narrowing) {
      const asked = asks(narrowing);
      if (asked.tags || asked.assetType || asked.team || asked.fields) return null;
      return [
        ...ofOrigin('c', narrowing),
        ...(asked.owner ? [sql<boolean>`c.owner_user_ref = ${narrowing.owner_ref}`] : []),
      ];
    },
  },
  user: {
    from: sql`users u`,
    alias: 'u',
    id: sql`u.ref`,
    at: sql`u.created_at`,
    narrow(narrowing) {
      const asked = asks(narrowing);
      return Object.values(asked).some(Boolean) ? null : [...all];
    },
  },
  tag: {
    from: sql`tags t`,
    alias: 't',
    id: sql`t.name`,
    // Tags have no time: in an order of times they come last.
    at: sql`timestamptz 'epoch'`,
    narrow(narrowing) {
      const asked = asks(narrowing);
      return Object.values(asked).some(Boolean) ? null : [...all];
    },
  },
};
