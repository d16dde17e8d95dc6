import type { Capability } from '@vitrine/contract/capabilities';

/** How pages explain a capability. */
export interface CapabilityWords {
  label: string;
  group: string;
  description: string;
}

/** The headings under which pages list capabilities, in their order. */
const capabilityGroups = [
  'Uploading and posting',
  'Content of everyone',
  'Teams and metadata',
  'People and roles',
  'The library',
] as const;

const [posting, content, teams, people, library] = capabilityGroups;

/** What each capability allows to do and to see (ROLE-1). */
export const capabilityWords: Record<Capability, CapabilityWords> = {
  'assets.create': {
    label: 'Upload files',
    group: posting,
    description: 'Uploads files and edits and deletes their own. Shows nothing of others.',
  },
  'posts.create': {
    label: 'Create posts',
    group: posting,
    description: 'Writes drafts and edits and deletes their own posts.',
  },
  'posts.publish': {
    label: 'Publish posts',
    group: posting,
    description: 'Publishes their own drafts, so that others see them, and takes them back.',
  },
  'posts.comment': {
    label: 'Write comments',
    group: posting,
    description: 'Comments and annotates wherever they may read. Shows nothing more.',
  },
  'collections.create': {
    label: 'Create collections',
    group: posting,
    description: 'Collects posts and files that they may read.',
  },
  'assets.admin': {
    label: 'See and change every asset',
    group: content,
    description: 'Sees, edits, shares and deletes the files of everyone, restricted ones too.',
  },
  'posts.admin': {
    label: 'See and change every post, drafts included',
    group: content,
    description:
      'Sees, edits and deletes the posts of everyone, private ones and drafts too, and features posts.',
  },
  'content.read.all': {
    label: 'See restricted assets',
    group: content,
    description: 'Sees the files of everyone, restricted ones too, and changes nothing.',
  },
  'share.grant': {
    label: 'Decide on requests for access',
    group: content,
    description: 'Sees all requests for access and may grant what is asked for, whatever it is.',
  },
  'posts.approve.override': {
    label: 'Publish and share posts without the required approvals',
    group: content,
    description: 'Goes ahead without approvals for a reason, which the audit log records.',
  },
  'teams.read': {
    label: 'See teams',
    group: teams,
    description: 'Sees every team and its members. Files and posts of a team are shown to its members.',
  },
  'teams.write': {
    label: 'Create and change teams',
    group: teams,
    description: 'Creates teams, adds and removes members, and sees the files of every team.',
  },
  'fields.admin': {
    label: 'Define metadata fields',
    group: teams,
    description: 'Creates and changes fields, their terms, defaults and extraction from files.',
  },
  'fields.vocabulary.extend': {
    label: 'Add terms to vocabularies',
    group: teams,
    description: 'Adds new terms to open vocabularies while filling in a field.',
  },
  'fields.vocabulary.merge': {
    label: 'Merge terms of vocabularies',
    group: teams,
    description: 'Merges terms and tags, and renames tags, on the content of everyone.',
  },
  'users.read': {
    label: 'See accounts',
    group: people,
    description: 'Sees the list of accounts with their roles, status and sessions, without personal data.',
  },
  'users.write': {
    label: 'Create and change accounts',
    group: people,
    description:
      'Creates, invites, edits, disables and deletes accounts, resets passwords, and gives roles and capabilities that they hold themselves.',
  },
  'users.pii.read': {
    label: 'See personal data: full names, e-mail, addresses',
    group: people,
    description: 'Sees full names, e-mail and network addresses of accounts and in the audit log.',
  },
  'roles.read': {
    label: 'See roles',
    group: people,
    description: 'Sees which roles exist and what they confer.',
  },
  'roles.write': {
    label: 'Create and change roles',
    group: people,
    description: 'Writes roles, within the capabilities that they hold themselves.',
  },
  'caps.read': {
    label: 'See who may do what',
    group: people,
    description: 'Sees what each account may do, and why.',
  },
  'auth.impersonate': {
    label: 'Act as another user',
    group: people,
    description: 'Sees and does what another person may, except administrators. The audit log records both.',
  },
  'system.config.read': {
    label: 'See the settings of the library',
    group: library,
    description: 'Sees settings, storage, peers and the doctor, without secrets.',
  },
  'system.config.write': {
    label: 'Change the settings of the library',
    group: library,
    description: 'Changes settings, mail, sign-in, peers and public mode, which decides what visitors see.',
  },
  'system.appearance.write': {
    label: 'Change logo and fonts',
    group: library,
    description: 'Changes how the library looks. Shows nothing more.',
  },
  'system.audit.read': {
    label: 'Read the audit log',
    group: library,
    description: 'Sees and exports who did what, names of private things included.',
  },
  'jobs.read': {
    label: 'See background jobs',
    group: library,
    description: 'Sees which jobs run, wait or failed.',
  },
  'system.admin': {
    label: 'Everything',
    group: library,
    description: 'Holds every capability, sees all content, and may give everything to others.',
  },
};
