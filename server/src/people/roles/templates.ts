import type { Capability } from '@vitrine/contract/capabilities';
import { listRoleTemplates, type RoleTemplate } from '@vitrine/contract/roles';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';

interface Template extends Pick<RoleTemplate, 'code'> {
  name: Sentence;
  description: Sentence;
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
    name: sentence('Asset manager'),
    description: sentence('Looks after the files, posts and metadata of everyone.'),
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
    name: sentence('Reviewer'),
    description: sentence('Comments, annotates and decides in reviews, and uploads nothing.'),
    capabilities: ['posts.comment', 'collections.create', 'teams.read'],
  },
  {
    code: 'contributor',
    name: sentence('Contributor'),
    description: sentence('Uploads and writes drafts, which somebody else publishes.'),
    capabilities: contributing,
  },
  {
    code: 'guest',
    name: sentence('Guest'),
    description: sentence('Looks at what is shared with everyone here.'),
    capabilities: [],
  },
];

// LANGUAGE-8
export const roleTemplates = handle(listRoleTemplates, async (_, { caller, http }) => {
  const language = readerLanguage(caller, http);
  const body = templates.map(({ name, description, ...template }) => ({
    ...template,
    name: saySentence(language, name),
    description: saySentence(language, description),
  }));
  return { status: 200, body };
});
