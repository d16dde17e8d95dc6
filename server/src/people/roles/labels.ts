import type { Capability } from '@vitrine/contract/capabilities';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** How pages explain a capability. */
export interface CapabilityWords {
  label: Sentence;
  group: Sentence;
  description: Sentence;
}

/** The headings under which pages list capabilities, in their order. */
const capabilityGroups = [
  sentence('Uploading and posting'),
  sentence('Content of everyone'),
  sentence('Teams and metadata'),
  sentence('People and roles'),
  sentence('The library'),
] as const;

const [posting, content, teams, people, library] = capabilityGroups;

/** What each capability allows to do and to see (ROLE-1). */
export const capabilityWords: Record<Capability, CapabilityWords> = {
  'assets.create': {
    label: sentence('Upload files'),
    group: posting,
    description: sentence('Uploads files and edits and deletes their own. Shows nothing of others.'),
  },
  'posts.create': {
    label: sentence('Create posts'),
    group: posting,
    description: sentence('Writes drafts and edits and deletes their own posts.'),
  },
  'posts.publish': {
    label: sentence('Publish posts'),
    group: posting,
    description: sentence('Publishes their own drafts, so that others see them, and takes them back.'),
  },
  'posts.comment': {
    label: sentence('Write comments'),
    group: posting,
    description: sentence('Comments and annotates wherever they may read. Shows nothing more.'),
  },
  'collections.create': {
    label: sentence('Create collections'),
    group: posting,
    description: sentence('Collects posts and files that they may read.'),
  },
  'assets.admin': {
    label: sentence('See and change every asset'),
    group: content,
    description: sentence('Sees, edits, shares and deletes the files of everyone, restricted ones too.'),
  },
  'posts.admin': {
    label: sentence('See and change every post, drafts included'),
    group: content,
    description: sentence(
      'Sees, edits and deletes the posts of everyone, private ones and drafts too, and features posts.',
    ),
  },
  'content.read.all': {
    label: sentence('See restricted assets'),
    group: content,
    description: sentence('Sees the files of everyone, restricted ones too, and changes nothing.'),
  },
  'share.grant': {
    label: sentence('Decide on requests for access'),
    group: content,
    description: sentence('Sees all requests for access and may grant what is asked for, whatever it is.'),
  },
  'posts.approve.override': {
    label: sentence('Publish and share posts without the required approvals'),
    group: content,
    description: sentence('Goes ahead without approvals for a reason, which the audit log records.'),
  },
  'teams.read': {
    label: sentence('See teams'),
    group: teams,
    description: sentence(
      'Sees every team and its members. Files and posts of a team are shown to its members.',
    ),
  },
  'teams.write': {
    label: sentence('Create and change teams'),
    group: teams,
    description: sentence('Creates teams, adds and removes members, and sees the files of every team.'),
  },
  'fields.admin': {
    label: sentence('Define metadata fields'),
    group: teams,
    description: sentence('Creates and changes fields, their terms, defaults and extraction from files.'),
  },
  'fields.vocabulary.extend': {
    label: sentence('Add terms to vocabularies'),
    group: teams,
    description: sentence('Adds new terms to open vocabularies while filling in a field.'),
  },
  'fields.vocabulary.merge': {
    label: sentence('Merge terms of vocabularies'),
    group: teams,
    description: sentence('Merges terms and tags, and renames tags, on the content of everyone.'),
  },
  'users.read': {
    label: sentence('See accounts'),
    group: people,
    description: sentence(
      'Sees the list of accounts with their roles, status and sessions, without personal data.',
    ),
  },
  'users.write': {
    label: sentence('Create and change accounts'),
    group: people,
    description: sentence(
      'Creates, invites, edits, disables and deletes accounts, resets passwords, and gives roles and capabilities that they hold themselves.',
    ),
  },
  'users.pii.read': {
    label: sentence('See personal data: full names, e-mail, addresses'),
    group: people,
    description: sentence('Sees full names, e-mail and network addresses of accounts and in the audit log.'),
  },
  'roles.read': {
    label: sentence('See roles'),
    group: people,
    description: sentence('Sees which roles exist and what they confer.'),
  },
  'roles.write': {
    label: sentence('Create and change roles'),
    group: people,
    description: sentence('Writes roles, within the capabilities that they hold themselves.'),
  },
  'caps.read': {
    label: sentence('See who may do what'),
    group: people,
    description: sentence('Sees what each account may do, and why.'),
  },
  'auth.impersonate': {
    label: sentence('Act as another user'),
    group: people,
    description: sentence(
      'Sees and does what another person may, except administrators. The audit log records both.',
    ),
  },
  'system.config.read': {
    label: sentence('See the settings of the library'),
    group: library,
    description: sentence('Sees settings, storage, peers and the doctor, without secrets.'),
  },
  'system.config.write': {
    label: sentence('Change the settings of the library'),
    group: library,
    description: sentence(
      'Changes settings, mail, sign-in, peers and public mode, which decides what visitors see.',
    ),
  },
  'system.appearance.write': {
    label: sentence('Change logo and fonts'),
    group: library,
    description: sentence('Changes how the library looks. Shows nothing more.'),
  },
  'system.audit.read': {
    label: sentence('Read the audit log'),
    group: library,
    description: sentence('Sees and exports who did what, names of private things included.'),
  },
  'jobs.read': {
    label: sentence('See background jobs'),
    group: library,
    description: sentence('Sees which jobs run, wait or failed.'),
  },
  'system.admin': {
    label: sentence('Everything'),
    group: library,
    description: sentence('Holds every capability, sees all content, and may give everything to others.'),
  },
};
