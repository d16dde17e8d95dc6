import { DefaultSensitivity } from '@vitrine/contract/appearance';
import type { AssetFields } from '@vitrine/contract/assets';
import { Compile } from 'typebox/compile';
import { compilePattern } from '../../content/path-values/path-patterns.ts';
import type { FieldPattern } from '../../content/path-values/path-values.ts';
import { ConfigError } from '../../core/config.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { readOptions } from '../options.ts';

export interface ImportOptions {
  directory: string;
  user: string | undefined;
  post: boolean;
  collections: boolean;
  /** Whether files that belong together are stacked. */
  stacks: boolean;
  dryRun: boolean;
  fields: Pick<AssetFields, 'sensitivity'>;
  patterns: FieldPattern[];
}

const options = {
  user: { type: 'string' },
  post: { type: 'boolean', default: false },
  collections: { type: 'boolean', default: false },
  'no-stacks': { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  sensitivity: { type: 'string' },
  field: { type: 'string', multiple: true },
} as const;

const isSensitivity = Compile(DefaultSensitivity);

/** Returns the fields of the new assets. Without `--sensitivity` the library's default applies. */
function readSensitivity(given: string | undefined): Pick<AssetFields, 'sensitivity'> {
  if (given === undefined) return {};
  if (!isSensitivity.Check(given))
    throw new ConfigError(
      sentence('--sensitivity is posts, org, public or restricted, not {given}', { given }),
    );
  return { sensitivity: given };
}

function readPattern(given: string): FieldPattern {
  const [, code, pattern] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (code === undefined || pattern === undefined)
    throw new ConfigError(
      sentence('--field is CODE=PATTERN, such as {example}, not {given}', {
        example: 'event={value}/',
        given,
      }),
    );
  const read = compilePattern(pattern);
  if ('fault' in read)
    throw new ConfigError(
      sentence('{setting}: {reason}', { setting: `--field ${given}`, reason: read.fault }),
    );
  return { code, read };
}

/** Reads the arguments of `vitrine import`. Throws a ConfigError that names the one that is not valid. */
export function readArguments(args: string[]): ImportOptions {
  const { values, positionals } = readOptions({ args, allowPositionals: true, options });
  const fields = readSensitivity(values.sensitivity);
  const patterns = (values.field ?? []).map(readPattern);
  const twice = patterns.find(({ code }, at) => patterns.findIndex((other) => other.code === code) < at);
  if (twice !== undefined)
    throw new ConfigError(sentence('{option} names {code} twice', { option: '--field', code: twice.code }));
  const [directory, more] = positionals;
  if (directory === undefined || more !== undefined)
    throw new ConfigError(sentence('name a directory: {command}', { command: 'vitrine import DIR' }));
  const { user, post, collections, 'no-stacks': noStacks, 'dry-run': dryRun } = values;
  return { directory, user, post, collections, stacks: !noStacks, dryRun, fields, patterns };
}
