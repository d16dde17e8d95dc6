import type { ShownAsset } from '@vitrine/contract/assets';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';

/** The words for files of one kind. */
interface Kind {
  readonly noun: string;
  /** The noun as a label. */
  readonly label: string;
  readonly counted: (count: number) => string;
}

const file: Kind = {
  noun: phrase('file'),
  label: 'File',
  counted: (count) => plural(count, ['# file', '# files']),
};

/** The kinds of the asset types that every library has. Imported libraries add types of their own. */
const kinds: readonly (Kind | undefined)[] = [
  undefined,
  {
    noun: phrase('picture'),
    label: 'Picture',
    counted: (count) => plural(count, ['# picture', '# pictures']),
  },
  {
    noun: phrase('document'),
    label: 'Document',
    counted: (count) => plural(count, ['# document', '# documents']),
  },
  { noun: phrase('video'), label: 'Video', counted: (count) => plural(count, ['# video', '# videos']) },
  { noun: phrase('sound'), label: 'Sound', counted: (count) => plural(count, ['# sound', '# sounds']) },
  {
    noun: phrase('3D model'),
    label: phrase('3D model'),
    counted: (count) => plural(count, ['# 3D model', '# 3D models']),
  },
  { noun: phrase('font'), label: 'Font', counted: (count) => plural(count, ['# font', '# fonts']) },
];

type Typed = Pick<ShownAsset, 'asset_type'>;

const ofType = ({ asset_type }: Typed) => kinds[asset_type] ?? file;

/** Returns what kind of file an asset is, in the singular. */
export const kindOf = (asset: Typed): string => ofType(asset).noun;

/** Returns the kind of a file as a label, such as `Video`; `File` if the kind is unknown. */
export const kindLabel = (asset: Typed | undefined): string =>
  (asset === undefined ? file : ofType(asset)).label;

/** Returns how many files there are: `5 pictures`, or `5 files` of different kinds. */
export function countedKinds(assets: readonly Typed[]): string {
  const [first, ...others] = assets.map(ofType);
  const kind = first !== undefined && others.every((other) => other === first) ? first : file;
  return kind.counted(assets.length);
}
