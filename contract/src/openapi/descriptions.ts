import type { Door, Operation } from '../operation.ts';

export const contact = { name: 'The operator of this library' };
export const license = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };

/** Returns the introduction of the document: rules that apply to every operation. */
export function description(version: string): string {
  return `Interface of Vitrine ${version}, a self-hosted media library and sharing service.

Bodies are JSON unless an operation says otherwise. Ids are UUIDs, references (\`*_ref\`) are int64 integers, and timestamps are RFC 3339 in UTC. A property without a value is left out unless it is declared as nullable.

**Signing in.** Send the session cookie that \`POST /auth/login\` sets, or a personal access token as \`Authorization: Bearer\`. Anonymous callers are shown public content while public mode is on.

**Lists** return \`{items, next_cursor}\`. Send \`next_cursor\` back as \`cursor\` to get the next page; it is null on the last one.

**Changes.** Unknown properties are rejected with 400. A PATCH changes only the properties that have a value: null means the same as leaving a property out, and \`clear_*: true\` removes a value. With \`if_unchanged_since\` the request fails with 409 if the object has changed since.

**Errors** have the body \`{error}\` with a short text, and the header \`Vitrine-Error\` with a code for programs, such as \`value-too-long;property="title";max=500\`. Each operation lists its codes; those of its access and input are listed with the shared responses. Content that a caller may not see returns the same 404 as content that does not exist. 429 and 503 responses carry \`Retry-After\`.`;
}

const described: Readonly<Record<string, string>> = {
  'Set-up': 'Creating the first administrator of a new library.',
  'Sign-in': 'Starting and ending sessions, and the identity of the caller.',
  Account:
    'Settings of the caller’s own account: preferences, sessions, password, saved views and searches, the export and the deletion of own data.',
  Users: 'Profiles, followers, and the administration of accounts.',
  Invitations: 'Inviting people, and the accounts that they create with an invitation.',
  Tokens: 'Personal access tokens for scripts and other clients.',
  Roles: 'Roles and capabilities, and the grants and revokes of single accounts.',
  Impersonation: 'Acting as another account to see what it sees.',
  Archives: 'ZIP archives of files that members select.',
  Batches: 'Changes of many assets or posts at once, as jobs that can be watched, cancelled and undone.',
  Audit: 'The log of changes to accounts, rights, settings and other people’s content.',
  Assets: 'Files with metadata: uploading, describing, viewing and sharing them.',
  Uploads: 'Resumable uploads with the tus 1.0.0 protocol.',
  System: 'Settings and the state of the installation.',
  Posts: 'Assets published with a title and a visibility: the feed, likes, shares and the featured list.',
  Comments: 'The thread of a post.',
  Whiteboards: 'Drawings on a post.',
  Trash: 'Deleted content and its restoration.',
  Requests: 'Asking for access or a capability, and deciding such requests.',
  Reviews: 'Asking people to decide on a post, and their decisions.',
  Roots: 'Folders whose files are assets and stay where they are.',
  Teams: 'Groups of accounts that can own assets and posts.',
  Appearance: 'Fonts and logo.',
  Search: 'Finding posts, assets, collections, people and tags.',
  'Field values': 'The values that assets and collections have in the fields of the library.',
  Fields: 'The metadata fields that operators define, and their vocabularies.',
  Jobs: 'Background work.',
  Extraction: 'Filling fields from the metadata that files carry.',
  Collections: 'Ordered lists of posts.',
  Notifications: 'What accounts are notified of, in the app and by mail.',
  Tags: 'The tags of posts and assets.',
  Links: 'Addresses that show one post, asset or collection to anyone who has the address.',
  Federation: 'Pairing with other installs, and sharing with them.',
};

/** Every tag with its description, in the order of the reference page. */
export const tags = Object.entries(described).map(([name, description]) => ({ name, description }));

function doorText(door: Door): string {
  if (door === 'open') return 'Open to everyone.';
  if (door === 'public') return 'Open to signed-in callers, and to anonymous ones while public mode is on.';
  if (door === 'signedIn') return 'Requires an account.';
  return `Requires the capability \`${door.holds}\`.`;
}

/** Describes who may call an operation, derived from its door, scopes and impersonation rule. */
export function accessOf({ door, scope, otherScopes = [], whileImpersonating }: Operation): string {
  const scopes = [scope, ...otherScopes].map((name) => `\`${name}\``).join(' or ');
  const token =
    scope === 'none'
      ? []
      : scope === 'session'
        ? ['Requires a session; tokens are not accepted.']
        : [`A token needs the scope ${scopes}.`];
  const impersonation = whileImpersonating === 'refused' ? ['Refused during an impersonation.'] : [];
  return [doorText(door), ...token, ...impersonation].join(' ');
}
