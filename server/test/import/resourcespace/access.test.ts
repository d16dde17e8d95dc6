import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { accessOf } from '../../../src/operate/resourcespace/access.ts';
import { readDump } from '../../../src/operate/resourcespace/dump.ts';
import { audienceOf, exposureOf } from '../../../src/operate/resourcespace/exposure.ts';
import { profilesOf, readInstallation } from '../../../src/operate/resourcespace/installation.ts';
import { readPermissions } from '../../../src/operate/resourcespace/permissions.ts';
import {
  type RightsRow,
  resources,
  rightsColumns,
  rightsOf,
} from '../../../src/operate/resourcespace/rights.ts';
import { readSettings } from '../../../src/operate/resourcespace/settings.ts';
import { tables } from '../../../src/operate/resourcespace/source.ts';
import { openStaging } from '../../../src/operate/resourcespace/staging.ts';
import { openLibrary } from '../../support/library.ts';
import { unpackHarbour } from './harbour.ts';

const { directory, dump, expected } = await unpackHarbour();
const library = await openLibrary();
const staging = await openStaging(library.database.pool, readDump(dump, tables));
afterAll(() => staging.close());
const installation = await readInstallation(staging, await readSettings(join(directory, 'config.json')));
const profiles = profilesOf(installation);
const audience = audienceOf(profiles);
const rows = await staging.query<RightsRow>(`select ${rightsColumns} from ${resources} order by r.ref`);
/** The day on which the system was asked. */
const TODAY = '2026-11-27';

function profileOf(username: string) {
  const user = installation.users.find((one) => one.username === username);
  const profile = profiles.get(user?.ref ?? 0);
  if (user === undefined || profile === undefined) throw new Error(`no ${username}`);
  return { user, profile };
}

// IMPORT-4
test('gives each account the access that ResourceSpace itself gives', () => {
  for (const { user: username, access } of expected.effective_access) {
    const { user, profile } = profileOf(username);
    const own = rows.map((row) => {
      const rights = rightsOf(row);
      const custom = rights.custom.filter(({ expires }) => expires === null || expires >= TODAY);
      return accessOf(profile, user.ref, { ...rights, custom }, installation.access);
    });
    expect([username, own.join('')]).toEqual([username, access]);
  }
});

// IMPORT-4
test('opens each resource to exactly the accounts that saw everything of it', () => {
  const different: string[] = [];
  for (const { user: username, access } of expected.effective_access) {
    const { user } = profileOf(username);
    for (const [at, row] of rows.entries()) {
      const exposure = exposureOf(rightsOf(row), audience, installation.access, TODAY);
      const isFull =
        exposure.kind === 'everyone' ||
        exposure.audience.includes(audience.profileOf.get(user.ref) ?? -1) ||
        exposure.readers.some((reader) => reader.user === user.ref);
      if (isFull !== (access[at] === '0')) different.push(`${username} ${row.ref}`);
      if (exposure.kind === 'withheld' && access[at] === '2') different.push(`${username} knows ${row.ref}`);
    }
  }
  expect(different).toEqual([]);
});

const group = (permissions: string) => ({
  group: 1,
  permissions: readPermissions(permissions),
  filter: { kind: 'none' } as const,
});
const open = { type: 1, archive: 0, access: 0, contributor: null, custom: [], nodes: new Set<number>() };
const usual = { openForContributor: false, uploaderViewOverride: true };

// IMPORT-4
test('reads permissions and filters narrowly', () => {
  const cases = [
    ['s,g', {}, 0],
    ['s', {}, 1],
    ['s,g,X1', {}, 1],
    ['s,g,T1', {}, 2],
    ['s,g,z0', {}, 2],
    ['s,g,rws0', {}, 1],
    ['s,g', { access: 2 }, 2],
    ['s,g', { access: 7 }, 2],
    ['s,v', { access: 2 }, 0],
    ['s,v,z0', {}, 2],
    ['s,g', { access: 3, custom: [{ user: null, group: 1, access: 1, expires: null }] }, 1],
    ['s,g', { access: 3 }, 2],
  ] as const;
  for (const [permissions, change, access] of cases) {
    const rights = { ...open, ...change };
    expect([permissions, change, accessOf(group(permissions), 9, rights, usual)]).toEqual([
      permissions,
      change,
      access,
    ]);
  }
  const filtered = (filter: Parameters<typeof accessOf>[0]['filter'], nodes: number[]) =>
    accessOf({ ...group('s,g'), filter }, 9, { ...open, nodes: new Set(nodes) }, usual);
  expect(filtered({ kind: 'unknown' }, [1])).toBe(2);
  const rules = [
    { on: [1, 2], off: [] },
    { on: [3], off: [4] },
  ];
  expect(
    [[1, 3], [1], [1, 3, 4]].map((nodes) => filtered({ kind: 'rules', condition: 'all', rules }, nodes)),
  ).toEqual([0, 2, 2]);
  expect(
    [[2], [3, 4], []].map((nodes) => filtered({ kind: 'rules', condition: 'any', rules }, nodes)),
  ).toEqual([0, 2, 2]);
  expect([[9], [4]].map((nodes) => filtered({ kind: 'rules', condition: 'none', rules }, nodes))).toEqual([
    0, 2,
  ]);
  // A filter hides what waits for review from everyone but its contributor.
  const waiting = { ...open, archive: -1 };
  expect(accessOf({ ...group('s,g'), filter: { kind: 'text' } }, 9, waiting, usual)).toBe(2);
  expect(
    accessOf({ ...group('s,g'), filter: { kind: 'text' } }, 9, { ...waiting, contributor: 9 }, usual),
  ).toBe(0);
});
