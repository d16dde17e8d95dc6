import { readFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ConfigError } from '../../core/config.ts';
import { sentence } from '../../platform/language/sentence.ts';

/** The settings of `config.php` that the import depends on, as JSON under their names there (docs/moving-in.md). */
const Settings = Type.Object({
  filestore_evenspread: Type.Optional(Type.Boolean()),
  originals_separate_storage: Type.Optional(Type.Boolean()),
  syncdir: Type.Optional(Type.String()),
  defaultlanguage: Type.Optional(Type.String()),
  view_title_field: Type.Optional(Type.Integer()),
  filename_field: Type.Optional(Type.Integer()),
  category_tree_add_parents: Type.Optional(Type.Boolean()),
  case_insensitive_username: Type.Optional(Type.Boolean()),
  anonymous_login: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  resource_deletion_state: Type.Optional(Type.Integer()),
  open_access_for_contributor: Type.Optional(Type.Boolean()),
  uploader_view_override: Type.Optional(Type.Boolean()),
  scramble_key: Type.Optional(Type.String()),
  php_timezone: Type.Optional(Type.String()),
  file_checksums_50k: Type.Optional(Type.Boolean()),
});

export type Settings = Static<typeof Settings>;

const isSettings = Compile(Settings);

/** Reads the file; other properties of it are ignored. Throws a ConfigError if it is no JSON of this form. */
export async function readSettings(path: string | undefined): Promise<Settings> {
  if (path === undefined) return {};
  const text = await readFile(path, 'utf8').catch(() => {
    throw new ConfigError(sentence('{path} cannot be read', { path }));
  });
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new ConfigError(sentence('{path} is not JSON', { path }));
  }
  if (isSettings.Check(given)) return given;
  const [first] = isSettings.Errors(given);
  const property = first?.instancePath.slice(1) ?? '';
  throw new ConfigError(
    property === ''
      ? sentence('{path} is not an object', { path })
      : sentence('{path}: {property} has a value of another type (“{detail}”)', {
          path,
          property,
          detail: first?.message ?? '',
        }),
  );
}
