import type { Team } from '@vitrine/contract/teams';
import { must } from '../cells.ts';
import type { About } from '../described-world.ts';
import { type AssetCell, isServed } from '../due.ts';
import { shownTeamAssets, type TeamName, teams } from '../matrix.ts';
import { accountDoor, adminDoor, labelOfAsset, refusalOf, together } from '../send-requests.ts';
import { usual } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Teams (TEAM-2, TEAM-3): every account sees them, and callers with teams.write there edit them. */

const named = teams.filter((team) => team !== 'none');
const writesEverywhere = ({ name }: Caller) => name === 'teams.write' || name === 'system.admin';

/** A capability held in a team applies to all teams below it. */
function writes(caller: Caller, team: TeamName): boolean {
  if (writesEverywhere(caller)) return true;
  if (caller.name === 'teams.write in the team') return team === 'team' || team === 'below';
  return caller.name === 'teams.write in the team below' && team === 'below';
}

const memberships: Partial<Record<string, TeamName>> = {
  'member of the team': 'team',
  'member of the team above': 'above',
  'member of the team below': 'below',
};

export async function addFollowsAndClosed({ world, callers }: About): Promise<string> {
  const { db } = world.library.deps;
  const closed = await db
    .insertInto('teams')
    .values({ slug: 'closed', name: 'closed', deleted_at: '2026-01-01T00:00:00Z' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const refs = [...new Set(callers.flatMap(({ ref }) => ref ?? []))];
  // Following is not membership: members follow another team, and some follow a closed one.
  const followed = (ref: number) => (ref % 2 === 0 ? 'elsewhere' : 'below');
  await db
    .insertInto('team_follows')
    .values(
      refs.flatMap((user_ref) => [
        { user_ref, team_id: must(world.teamIds.get(followed(user_ref)), 'team') },
        { user_ref, team_id: closed.id },
      ]),
    )
    .execute();
  await db
    .insertInto('team_members')
    .values({ team_id: closed.id, user_ref: must(refs[0], 'ref') })
    .execute();
  return closed.id;
}

export async function lookAtTeams(about: About, closed: string) {
  const { world, ledger, callers } = about;
  const bystander = world.refOf('commenter');
  const member = world.refOf('member of the team');
  const idOf = (team: TeamName) => must(world.teamIds.get(team), team);
  await together([...callers.entries()], async ([place, caller]) => {
    const refusal = refusalOf(caller, accountDoor);
    const locked = refusalOf(caller, adminDoor);
    const hold = (what: string, got: unknown, due: unknown) =>
      ledger.hold(`${caller.name}: ${what}`, got, due);
    const ask = (method: 'GET' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
      caller.visitor.send(path, { method, ...(body === undefined ? {} : { body }) });

    const list = await ask('GET', '/teams');
    hold('/teams: status', list.status, refusal ?? 200);
    if (list.status === 200) {
      const { items }: { items: Team[] } = JSON.parse(list.text);
      // Counts include everything, for every caller (TEAM-6).
      const got = items.map(
        ({ slug, member_count, content_count }) => `${slug} ${member_count} ${content_count}`,
      );
      const due = [...named].sort().map((team) => {
        const members = Object.values(memberships).filter((one) => one === team).length;
        const contents = world.assets.filter((asset) => asset.team === team && !asset.deleted).length;
        return `${team} ${members} ${contents}`;
      });
      hold('/teams', got.join(), due.join());
    }
    for (const [path, due] of [
      ['/auth/me/teams', memberships[caller.name] ?? ''],
      ['/auth/me/followed-teams', (caller.ref ?? 0) % 2 === 0 ? 'elsewhere' : 'below'],
    ] as const) {
      const own = await ask('GET', path);
      hold(`${path}: status`, own.status, refusal ?? 200);
      if (own.status !== 200) continue;
      const mine: Team[] = JSON.parse(own.text);
      hold(path, mine.map(({ slug }) => slug).join(), due);
    }
    hold('a closed team', (await ask('GET', `/teams/${closed}`)).status, refusal ?? 404);
    hold('its members', (await ask('GET', `/teams/${closed}/members`)).status, refusal ?? 404);
    hold('follow it', (await ask('PUT', `/teams/${closed}/follow`)).status, locked ?? 404);
    hold('edit it', (await ask('PATCH', `/teams/${closed}`, {})).status, locked ?? 404);
    const door = locked ?? (writesEverywhere(caller) ? 404 : 403);
    hold('close it again', (await ask('DELETE', `/teams/${closed}`)).status, door);
    hold('put it below another', (await ask('PUT', `/teams/${closed}/parents/${idOf('team')}`)).status, door);
    // Callers without rights in any team look at one of them in turn.
    const isInvolved = named.some((team) => writes(caller, team) || memberships[caller.name] === team);
    const looked = named.filter((_, index) => isInvolved || index === place % named.length);
    for (const team of looked) {
      const path = `/teams/${idOf(team)}`;
      hold(`${team}`, (await ask('GET', path)).status, refusal ?? 200);
      const members = await ask('GET', `${path}/members`);
      hold(`members of ${team}: status`, members.status, refusal ?? 200);
      if (members.status === 200) {
        const { items }: { items: { user: { username: string } }[] } = JSON.parse(members.text);
        const due = Object.entries(memberships).flatMap(([name, of]) => (of === team ? [name] : []));
        hold(`members of ${team}`, items.map(({ user }) => user.username).join(), due.join());
      }
      const isWriter = writes(caller, team);
      hold(`edit ${team}`, (await ask('PATCH', path, {})).status, locked ?? (isWriter ? 200 : 403));
      const gone = await ask('DELETE', `${path}/members/${bystander}`);
      // Members may leave; `commenter` is not a member.
      const isOneself = caller.ref === bystander;
      hold(`put somebody out of ${team}`, gone.status, locked ?? (isWriter || isOneself ? 404 : 403));
      if (team !== 'team') continue;
      const put = await ask('PUT', `${path}/members/${member}`);
      hold('take somebody into the team', put.status, locked ?? (isWriter ? 204 : 403));
      const hero = await ask('PUT', `${path}/hero`, { asset_id: null });
      hold('take the picture away', hero.status, locked ?? (isWriter ? 200 : 403));
    }
  });
}

/** TEAM-7: allowed only if public and owned by that team; mature ones are not shown to every account. */
const isAdmissible = ({ team, deleted, sensitivity, mature }: AssetCell) =>
  team === 'team' && !deleted && sensitivity === 'public' && !mature;

/** Every account can fetch the picture that is shown. */
const isTold = (asset: AssetCell) =>
  isAdmissible(asset) && asset.rendered !== 'nothing' && isServed('stranger', asset, usual);

/** Every asset as the picture of a team: whether it may be chosen, and whether it is shown afterwards. */
export async function lookAtHeroes({ world, ledger, callers }: About) {
  const { db } = world.library.deps;
  const id = must(world.teamIds.get('team'), 'team');
  const asked = callers.filter(({ name }) =>
    ['stranger', 'owner', 'system.admin', ...shownTeamAssets.team].includes(name),
  );
  const admin = must(world.callers.get('system.admin'), 'administrator').visitor;
  const ofOthers = world.assets.filter(({ team }, index) => team !== 'team' && index % 20 === 0);
  const ofTeam = world.assets.filter(({ team }) => team === 'team');
  // Every public one, and some of those that may never be chosen.
  const own = ofTeam.filter(({ sensitivity }, index) => sensitivity === 'public' || index % 7 === 0);
  const cells = [...own, ...ofOthers];
  for (const [place, asset] of cells.entries()) {
    const label = `the picture ${labelOfAsset(asset)}`;
    const { status } = await admin.send(`/teams/${id}/hero`, { method: 'PUT', body: { asset_id: asset.id } });
    ledger.hold(`${label}: chosen`, status, isAdmissible(asset) ? 200 : 404);
    await db.updateTable('teams').set({ hero_asset_id: asset.id }).where('id', '=', id).execute();
    for (const { name, visitor } of place % 6 === 0 ? asked : asked.slice(0, 1)) {
      const team: Team = JSON.parse((await visitor.send(`/teams/${id}`)).text);
      ledger.hold(`${name}: ${label}`, team.hero_asset_id, isTold(asset) ? asset.id : undefined);
    }
  }
  await db.updateTable('teams').set({ hero_asset_id: null }).where('id', '=', id).execute();
}
