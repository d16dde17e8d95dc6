import type { RawBuilder } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Directory } from './directory.ts';
import { listResponse } from './discovery.ts';
import type { Filterables } from './filter.ts';
import { countGroups, findGroup, type GroupRow, groupFilterables, readGroups, shownGroup } from './groups.ts';
import { type ListQuery, listQuery, type Selection, selected, selectionOf } from './list-query.ts';
import { countUsers, findUser, readUsers, shownUser, type UserRow, userFilterables } from './users.ts';
import { createGroup, modifyGroup, removeGroup, replaceGroup } from './write-groups.ts';
import { createUser, modifyUser, removeUser, replaceUser } from './write-users.ts';

/** One request of a directory. */
export interface Asked {
  directory: Directory;
  /** The address of SCIM. */
  base: string;
  id: string;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}

interface Response {
  status?: number;
  body?: object;
  location?: string;
}

export type Answer = (asked: Asked) => Promise<Response>;

interface Resource {
  list: Answer;
  get: Answer;
  create: Answer;
  replace: Answer;
  modify: Answer;
  remove: Answer;
}

/** How the resources of a type are read, changed and shown. */
interface ResourceType<Row> {
  filterables: Filterables;
  read(db: Database, provider: string, query: ListQuery, isWanted: Selection): Promise<Row[]>;
  count(db: Database, provider: string, where: RawBuilder<boolean>): Promise<number>;
  find(db: Database, provider: string, id: string): Promise<Row>;
  create(db: Database, directory: Directory, body: unknown): Promise<Row>;
  replace(db: Database, directory: Directory, id: string, body: unknown): Promise<Row>;
  modify(db: Database, directory: Directory, id: string, body: unknown): Promise<Row>;
  remove(db: Database, directory: Directory, id: string): Promise<void>;
  show(row: Row, base: string): { meta: { location: string } };
}

const users: ResourceType<UserRow> = {
  filterables: userFilterables,
  read: (db, provider, { where, cut }) => readUsers(db, provider, where, cut),
  count: countUsers,
  find: findUser,
  create: createUser,
  replace: replaceUser,
  modify: modifyUser,
  remove: removeUser,
  show: shownUser,
};

const groups: ResourceType<GroupRow> = {
  filterables: groupFilterables,
  read: (db, provider, { where, cut }, isWanted) =>
    readGroups(db, provider, where, { withMembers: isWanted('members'), cut }),
  count: countGroups,
  find: findGroup,
  create: createGroup,
  replace: replaceGroup,
  modify: modifyGroup,
  remove: removeGroup,
  show: shownGroup,
};

function resourceOf<Row>({ db }: Deps, type: ResourceType<Row>): Resource {
  const respond = ({ query, base }: Asked, row: Row, status = 200): Response => {
    const shown = type.show(row, base);
    return { status, location: shown.meta.location, body: selected(shown, selectionOf(query)) };
  };
  return {
    async list({ directory, query, base }) {
      const { name } = directory.provider;
      const wanted = listQuery(query, type.filterables);
      const isWanted = selectionOf(query);
      const rows = await type.read(db, name, wanted, isWanted);
      const total = await type.count(db, name, wanted.where);
      const shown = rows.map((row) => selected(type.show(row, base), isWanted));
      return { body: listResponse(shown, total, wanted.startIndex) };
    },
    get: async (asked) => respond(asked, await type.find(db, asked.directory.provider.name, asked.id)),
    create: async (asked) => respond(asked, await type.create(db, asked.directory, asked.body), 201),
    replace: async (asked) => respond(asked, await type.replace(db, asked.directory, asked.id, asked.body)),
    modify: async (asked) => respond(asked, await type.modify(db, asked.directory, asked.id, asked.body)),
    async remove({ directory, id }) {
      await type.remove(db, directory, id);
      return { status: 204 };
    },
  };
}

export function userResource(deps: Deps): Resource {
  return resourceOf(deps, users);
}

export function groupResource(deps: Deps): Resource {
  return resourceOf(deps, groups);
}
