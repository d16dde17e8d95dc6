import { holdsSeveral } from '@vitrine/contract/field-types';
import type { ExtractionSource } from '@vitrine/contract/limits';
import type { Tx } from '../../../platform/database/pool.ts';
import { definitionChanged } from './transaction.ts';

interface StarterField {
  /** Also the code of the field. */
  source: ExtractionSource;
  label: string;
  type: 'text' | 'number' | 'datetime' | 'multi_select';
  group: 'rights' | 'capture' | 'place' | 'file';
  description?: string;
}

/** The fields of a new library, in the order of the forms. */
const starterFields: readonly StarterField[] = [
  { source: 'keywords', label: 'Keywords', type: 'multi_select', group: 'rights' },
  { source: 'creator', label: 'Creator', type: 'text', group: 'rights' },
  { source: 'copyright', label: 'Copyright', type: 'text', group: 'rights' },
  { source: 'credit', label: 'Credit line', type: 'text', group: 'rights' },
  { source: 'capture_datetime', label: 'Date taken', type: 'datetime', group: 'capture' },
  {
    source: 'rating',
    label: 'Rating',
    type: 'number',
    group: 'capture',
    description: 'From -1, rejected, to 5',
  },
  { source: 'label', label: 'Label', type: 'text', group: 'capture' },
  { source: 'people', label: 'People', type: 'multi_select', group: 'capture' },
  { source: 'camera_make', label: 'Camera make', type: 'text', group: 'capture' },
  { source: 'camera_model', label: 'Camera', type: 'text', group: 'capture' },
  { source: 'lens', label: 'Lens', type: 'text', group: 'capture' },
  { source: 'exposure_time', label: 'Exposure', type: 'text', group: 'capture', description: 'In seconds' },
  { source: 'aperture', label: 'Aperture', type: 'number', group: 'capture', description: 'As an f-number' },
  { source: 'iso', label: 'ISO', type: 'number', group: 'capture' },
  {
    source: 'focal_length',
    label: 'Focal length',
    type: 'number',
    group: 'capture',
    description: 'In millimetres',
  },
  { source: 'gps_coordinates', label: 'Coordinates', type: 'text', group: 'place' },
  { source: 'city', label: 'City', type: 'text', group: 'place' },
  { source: 'country', label: 'Country', type: 'text', group: 'place' },
  { source: 'duration_seconds', label: 'Duration', type: 'number', group: 'file', description: 'In seconds' },
  { source: 'page_count', label: 'Pages', type: 'number', group: 'file' },
];

/** Sources that upload forms show. People do not type what a device writes into its files. */
const askedFor: readonly StarterField['group'][] = ['rights'];

/** Leaves positions for the operator's own fields before and between these. */
const FIRST_PLACE = 200;

/**
 * Adds the first fields of a new library, connected to extraction. Does nothing when the library has fields. The
 * operator may change and archive them.
 */
export async function addStarterFields(tx: Tx): Promise<void> {
  const defined = await tx
    .selectFrom('fields')
    .select('id')
    .where('mirrors_column', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (defined !== undefined) return;
  await tx
    .insertInto('fields')
    .values(
      starterFields.map(({ source, label, type, group, description = '' }, place) => ({
        code: source,
        label,
        description,
        type,
        open_vocabulary: holdsSeveral(type),
        display_order: FIRST_PLACE + place * 10,
        display_group: group,
        show_on_upload: askedFor.includes(group),
        extraction_source: source,
      })),
    )
    .execute();
  await definitionChanged(tx);
}
