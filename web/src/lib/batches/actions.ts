import Archive from '@lucide/svelte/icons/archive';
import Bot from '@lucide/svelte/icons/bot';
import Eye from '@lucide/svelte/icons/eye';
import FolderMinus from '@lucide/svelte/icons/folder-minus';
import FolderPlus from '@lucide/svelte/icons/folder-plus';
import ImagePlus from '@lucide/svelte/icons/image-plus';
import ListChecks from '@lucide/svelte/icons/list-checks';
import PenLine from '@lucide/svelte/icons/pen-line';
import ShieldAlert from '@lucide/svelte/icons/shield-alert';
import Tag from '@lucide/svelte/icons/tag';
import Tags from '@lucide/svelte/icons/tags';
import Trash2 from '@lucide/svelte/icons/trash-2';
import Undo2 from '@lucide/svelte/icons/undo-2';
import type { AssetAction, PostAction } from '@vitrine/contract/batches';
import type { SessionUser } from '@vitrine/contract/identity';
import { holds, mayPost } from '#lib/identity/allowance.ts';
import type { Subject } from './subjects.ts';

export type Action = AssetAction | PostAction;

/** The forms of the dialog. Setting, extending and clearing a field share one. */
export type Form =
  | 'add_tags'
  | 'remove_tags'
  | 'field'
  | 'set_sensitivity'
  | 'set_visibility'
  | 'set_status'
  | 'set_state'
  | 'set_mature'
  | 'set_ai_provenance'
  | 'add_to_collection'
  | 'remove_from_collection'
  | 'create_post'
  | 'delete'
  | 'restore';

interface Offered {
  /** What the menu calls it. */
  readonly label: string;
  readonly Icon: typeof Tag;
}

export const offered: Readonly<Record<Form, Offered>> = {
  add_tags: { label: 'Add tags', Icon: Tag },
  remove_tags: { label: 'Remove tags', Icon: Tags },
  field: { label: 'Change a field', Icon: PenLine },
  set_sensitivity: { label: 'Who may see them', Icon: Eye },
  set_visibility: { label: 'Who may see them', Icon: Eye },
  set_status: { label: 'Status', Icon: Archive },
  set_state: { label: 'Workflow state', Icon: ListChecks },
  set_mature: { label: 'Mature', Icon: ShieldAlert },
  set_ai_provenance: { label: 'How AI took part', Icon: Bot },
  add_to_collection: { label: 'Add to a collection', Icon: FolderPlus },
  remove_from_collection: { label: 'Remove from a collection', Icon: FolderMinus },
  create_post: { label: 'Create a post', Icon: ImagePlus },
  delete: { label: 'Delete', Icon: Trash2 },
  restore: { label: 'Restore', Icon: Undo2 },
};

/** What is done to files and posts in the same way. */
const forBoth: readonly Form[] = [
  'add_tags',
  'add_to_collection',
  'remove_from_collection',
  'remove_tags',
  'delete',
];

/** Returns the forms that are offered for things of these kinds, the most used first. */
export function formsFor(subjects: readonly Subject[], user: SessionUser | null): readonly Form[] {
  const [first = 'asset', ...others] = subjects;
  const forms = formsForOne(first, user);
  return others.length === 0 ? forms : forms.filter((form) => forBoth.includes(form));
}

function formsForOne(subject: Subject, user: SessionUser | null): readonly Form[] {
  const collects = holds(user, 'collections.create');
  if (subject === 'post') {
    return [
      'add_tags',
      'set_visibility',
      ...(collects ? (['add_to_collection', 'remove_from_collection'] as const) : []),
      'remove_tags',
      'set_state',
      'delete',
    ];
  }
  return [
    'add_tags',
    'field',
    'set_sensitivity',
    ...(collects ? (['add_to_collection', 'remove_from_collection'] as const) : []),
    'remove_tags',
    'set_status',
    'set_state',
    ...(user?.mature_content_allowed === true ? (['set_mature'] as const) : []),
    'set_ai_provenance',
    ...(mayPost(user) ? (['create_post'] as const) : []),
    'delete',
  ];
}
