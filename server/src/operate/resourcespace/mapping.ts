import { readFile, writeFile } from 'node:fs/promises';
import { fieldTypes } from '@vitrine/contract/field-types';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ConfigError } from '../../core/config.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { FieldPlan } from './field-plan.ts';
import type { GroupPlan } from './group-plan.ts';
import type { Installation } from './installation.ts';

const closed = { additionalProperties: false } as const;

const FieldChoice = Type.Object(
  {
    import: Type.Optional(Type.Boolean({ description: 'False leaves the field and its values out.' })),
    code: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 })),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    type: Type.Optional(Type.Enum([...fieldTypes])),
  },
  closed,
);

const GroupChoice = Type.Object(
  {
    role: Type.Optional(
      Type.String({
        description: 'own: a role made for this group. Otherwise the code of a role of the library.',
      }),
    ),
    team: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  closed,
);

const UserChoice = Type.Object(
  {
    import: Type.Optional(
      Type.Boolean({ description: 'False leaves the account out; what it owns goes to the owner.' }),
    ),
    account: Type.Optional(
      Type.String({ description: 'The existing account of the library that is the same person.' }),
    ),
  },
  closed,
);

const Numbered = <const T extends Parameters<typeof Type.Record>[1]>(schema: T) =>
  Type.Record(Type.String({ pattern: '^\\d+$' }), schema, closed);

/** The file that says what becomes what. Its keys are the numbers that ResourceSpace gives; what is absent stays as proposed. */
export const Mapping = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    alternatives: Type.Optional(
      Type.Enum(['related', 'versions'], {
        description:
          'Whether alternative files become assets of their own, or earlier versions of the asset.',
      }),
    ),
    owner: Type.Optional(
      Type.String({ description: 'The administrator who owns what belongs to no imported account.' }),
    ),
    types: Type.Optional(
      Numbered(Type.Object({ label: Type.String({ minLength: 1, maxLength: 200 }) }, closed)),
    ),
    fields: Type.Optional(Numbered(FieldChoice)),
    groups: Type.Optional(Numbered(GroupChoice)),
    users: Type.Optional(Numbered(UserChoice)),
  },
  { ...closed, title: 'Mapping of vitrine import-resourcespace' },
);
export type Mapping = Static<typeof Mapping>;

const isMapping = Compile(Mapping);

/** Returns what does not fit in a file, whose place is a JSON pointer. */
function misfit(
  path: string,
  error: { instancePath: string; message: string; params: object } | undefined,
): Sentence {
  const place = error === undefined || error.instancePath === '' ? '/' : error.instancePath;
  if (error !== undefined && 'additionalProperties' in error.params)
    return sentence('{path}: {place} has an unknown property {name}', {
      path,
      place,
      name: String(error.params.additionalProperties),
    });
  return sentence('{path}: {place} has another form (“{detail}”)', {
    path,
    place,
    detail: error?.message ?? '',
  });
}

/** Reads a mapping; null if there is no such file. Throws a ConfigError for another form or an unknown property. */
export async function readMapping(path: string): Promise<Mapping | null> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new ConfigError(sentence('{path} cannot be read', { path }));
  });
  if (text === null) return null;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(sentence('{path} is not JSON: {reason}', { path, reason: sentenceOfError(error) }));
  }
  if (isMapping.Check(given)) return given;
  // An unknown property is reported as a value that nothing allows, too.
  const first = isMapping.Errors(given).find(({ keyword }) => keyword !== 'boolean');
  throw new ConfigError(misfit(path, first));
}

/** Writes the proposals, unless the file exists. The schema is part of it, so that editors check and complete it. */
export async function writeProposal(
  path: string,
  { types, users }: Installation,
  fields: readonly FieldPlan[],
  groups: readonly GroupPlan[],
): Promise<void> {
  const schema = `data:application/schema+json,${encodeURIComponent(JSON.stringify(Mapping))}`;
  const proposal: Mapping = {
    $schema: schema,
    alternatives: 'related',
    types: Object.fromEntries(types.map(({ ref, label }) => [ref, { label }])),
    fields: Object.fromEntries(
      fields.map(({ field, isImported, code, label, type }) => [
        field.ref,
        { import: isImported, code, label, type },
      ]),
    ),
    groups: Object.fromEntries(groups.map(({ group, role, team }) => [group.ref, { role, team }])),
    users: Object.fromEntries(users.map(({ ref }) => [ref, { import: true }])),
  };
  await writeFile(path, `${JSON.stringify(proposal, null, 2)}\n`, { flag: 'wx' });
}

/** Applies the operator's choices to the proposals. Throws a ConfigError for two fields with one code. */
export function chooseFields(plans: readonly FieldPlan[], { fields = {} }: Mapping): FieldPlan[] {
  const chosen = plans.map((plan) => {
    const { import: isImported = plan.isImported, ...own } = fields[String(plan.field.ref)] ?? {};
    return { ...plan, ...own, isImported };
  });
  const codes = chosen.filter(({ isImported }) => isImported).map(({ code }) => code);
  const twice = codes.find((code, at) => codes.indexOf(code) !== at);
  if (twice !== undefined)
    throw new ConfigError(sentence('the mapping has the code {code} twice', { code: twice }));
  return chosen;
}

export function chooseGroups(plans: readonly GroupPlan[], { groups = {} }: Mapping): GroupPlan[] {
  return plans.map((plan) => ({ ...plan, ...groups[String(plan.group.ref)] }));
}
