import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openPair, rowsOf } from '../federation/installs.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

/** An editor of the post of somebody else, and what they have of its sensitive member. */
interface EditorKind {
  name: string;
  role?: 'admin';
  everywhere?: readonly Capability[];
  inTeam?: readonly Capability[];
  share?: 'present' | 'expired';
  isMember?: boolean;
  /** FED-58: whether they may confirm it, and whether they are shown its columns when it is restricted. */
  confirms: boolean;
  sees: boolean;
}

const editing: readonly Capability[] = ['posts.admin'];
const kinds: readonly EditorKind[] = [
  { name: 'an administrator', role: 'admin', confirms: true, sees: true },
  {
    name: 'an administrator of assets',
    everywhere: [...editing, 'assets.admin'],
    confirms: true,
    sees: true,
  },
  {
    name: 'an administrator of the assets of the team',
    everywhere: editing,
    inTeam: ['assets.admin'],
    confirms: true,
    sees: true,
  },
  { name: 'an administrator of posts', everywhere: editing, confirms: false, sees: false },
  { name: 'an administrator of the posts of the team', inTeam: editing, confirms: false, sees: false },
  { name: 'a member of the team', everywhere: editing, isMember: true, confirms: false, sees: false },
  { name: 'a sharee', everywhere: editing, share: 'present', confirms: false, sees: true },
  { name: 'a former sharee', everywhere: editing, share: 'expired', confirms: false, sees: false },
  {
    name: 'a reader of all content',
    everywhere: [...editing, 'content.read.all'],
    confirms: false,
    sees: true,
  },
  {
    name: 'a writer of teams',
    everywhere: [...editing, 'teams.write'],
    isMember: true,
    confirms: false,
    sees: false,
  },
];

const { harbour, studio, peerOfOne: peer_id } = await openPair();
const { root } = harbour;
await studio.join('bob');
await root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
const owner = await harbour.join('owner');
const team = await root.ok('createTeam', { body: { slug: 'team', name: 'Team' } });
await root.ok('addTeamMember', { params: { id: team.id, user_ref: owner.ref } });

const uploaded = (name: string, fields: Record<string, string>) =>
  upload(owner, plainFile(name), { title: name, team_id: team.id, ...fields });
const members = {
  restricted: await uploaded('Restricted', { sensitivity: 'restricted' }),
  mature: await uploaded('Mature', { sensitivity: 'posts', mature: 'true' }),
};
const plain = await uploaded('Plain', { sensitivity: 'posts' });

async function editorOf(kind: EditorKind): Promise<Account> {
  const at = kinds.indexOf(kind);
  const editor = await harbour.join(`editor-${at}`, kind.role ?? 'member');
  const params = { ref: editor.ref };
  for (const capability of kind.everywhere ?? [])
    await root.ok('grantCapability', { params, body: { capability } });
  for (const capability of kind.inTeam ?? [])
    await root.ok('grantCapability', { params, body: { capability, team_id: team.id } });
  if (kind.isMember) await root.ok('addTeamMember', { params: { id: team.id, user_ref: editor.ref } });
  if (kind.share === undefined) return editor;
  for (const { id } of Object.values(members))
    await owner.ok('putAssetShare', { params: { id, user_ref: editor.ref }, body: {} });
  if (kind.share === 'expired')
    await sql`update asset_shares set expires_at = now() - interval '1 minute' where user_ref = ${editor.ref}`.execute(
      harbour.database.db,
    );
  return editor;
}

describe.each(kinds)('$name', (kind) => {
  // FED-58, ASSET-5, ASSET-10
  test('confirms and is shown sensitive members of a post as the rules of assets say', async () => {
    const editor = await editorOf(kind);
    for (const [what, member] of Object.entries(members)) {
      const { id } = await publish(owner, [plain, member], { title: what, team_id: team.id });
      const params = { id, peer_id };
      const { sensitive } = await editor.ok('listPostPeers', { params: { id } });
      // The columns of a mature file of posts are shown to every reader of the post.
      const isShown = kind.sees || what === 'mature';
      const expected = isShown
        ? {
            asset_id: member.id,
            title: member.title,
            restricted: what === 'restricted',
            mature: what === 'mature',
            confirmable: kind.confirms,
          }
        : { asset_id: member.id, restricted: true, owner_display_name: 'owner' };
      expect([what, sensitive]).toEqual([what, [expected]]);
      const unconfirmed = await editor.send(`/posts/${id}/peers/${peer_id}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ person: 'bob' }),
      });
      const { text } = unconfirmed;
      expect([what, unconfirmed.status, text.includes(member.title)]).toEqual([
        what,
        kind.confirms ? 409 : 201,
        kind.confirms,
      ]);
      const status = await editor.status('PUT', `/posts/${id}/peers/${peer_id}`, {
        person: 'bob',
        confirm_sensitive: true,
      });
      expect([what, status]).toEqual([what, kind.confirms ? 201 : 403]);
      const given = sql<{ sensitive_assets: string[] }>`select sensitive_assets from federation_shares
        where object_id = ${params.id} and revoked_at is null`;
      expect(await rowsOf(harbour, given)).toEqual([{ sensitive_assets: kind.confirms ? [member.id] : [] }]);
    }
  });
});
