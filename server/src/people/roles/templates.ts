import type { Capability } from '@vitrine/contract/capabilities';
import { listRoleTemplates, type RoleTemplate } from '@vitrine/contract/roles';
import { handle } from '../../core/handle.ts';

interface Template extends RoleTemplate {
  capabilities: Capability[];
}

const contributing: Capability[] = [
  'assets.create',
  'posts.create',
  'posts.comment',
  'collections.create',
  'teams.read',
];

/** ROLE-19: roles to start from. */
const templates: readonly Template[] = [
  {
    code: 'asset-manager',
    name: 'Asset manager',
    description: 'Looks after the files, posts and metadata of everyone.',
    capabilities: [
      ...contributing,
      'posts.publish',
      'assets.admin',
      'posts.admin',
      'share.grant',
      'fields.admin',
      'fields.vocabulary.extend',
      'fields.vocabulary.merge',
    ],
  },
  {
    code: 'reviewer',
    name: 'Reviewer',
    description: 'Comments, annotates and decides in reviews, and uploads nothing.',
    capabilities: ['posts.comment', 'collections.create', 'teams.read'],
  },
  {
    code: 'contributor',
    name: 'Contributor',
    description: 'Uploads and writes drafts, which somebody else publishes.',
    capabilities: contributing,
  },
  {
    code: 'guest',
    name: 'Guest',
    description: 'Looks at what is shared with everyone here.',
    capabilities: [],
  },
];

export const roleTemplates = handle(listRoleTemplates, async () => ({ status: 200, body: [...templates] }));
