import { type RawBuilder, sql } from 'kysely';
import { hasApprovals, mayOverride } from '../../../access/approvals.ts';
import { appliesToAsset, knownFields, writableFields } from '../../../access/field-values.ts';
import { notifyPeersOfCollectionsWith, notifyPeersOfMembers } from '../../../core/outbox/enqueue.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { approvalRequired, checkApprovals } from '../../approvals/gates.ts';
import { refusalOfPair } from '../../fields/values/pairs.ts';
import { type CallersDefinition, checkContent } from '../../fields/values/rules.ts';
import { checkColumnLength } from '../../fields/values/write.ts';
import { type Changed, changeRows, type ReadRow, type SubjectKind } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  refusedBy,
  type Step,
  type UndoRecord,
  unchanged,
} from '../step.ts';
import { announceEach } from './announce-each.ts';

type Value = string | boolean | null;

interface ColumnRow extends ReadRow {
  value: Value;
  draft: boolean;
  /** Of posts: whether it has the approvals for a public audience. */
  approved: boolean;
  /** What the field allows the caller on this asset, if the column is written through one. */
  known: boolean;
  applies: boolean;
  writable: boolean;
}

/** A field that mirrors a column, as a step holds it. */
export type HeldField = Omit<CallersDefinition, 'applies' | 'writable'>;

/** The field that the column is written through, and whether its value is removed. */
interface Through {
  readonly field: HeldField;
  readonly clears: boolean;
}

interface BatchColumn {
  readonly subject: SubjectKind;
  readonly type: RawBuilder<unknown>;
  /** Whether posts with the asset, or collections with the post, change for peers, too. */
  readonly changesAudience: boolean;
}

const text = sql`text`;

/** The columns that batches set. */
const columns = {
  sensitivity: { subject: 'asset', type: text, changesAudience: true },
  status: { subject: 'asset', type: text, changesAudience: false },
  mature: { subject: 'asset', type: sql`boolean`, changesAudience: true },
  ai_provenance: { subject: 'asset', type: text, changesAudience: false },
  title: { subject: 'asset', type: text, changesAudience: false },
  description: { subject: 'asset', type: text, changesAudience: false },
  visibility: { subject: 'post', type: text, changesAudience: true },
} as const satisfies Readonly<Record<string, BatchColumn>>;
export type BatchColumnName = keyof typeof columns;

/** Throws a Refusal if no object may have the value. */
type Check = (step: Step) => Promise<void>;
const noCheck: Check = async () => {};

/** Writes `record.after` to each row. */
async function writeColumn(
  { tx, caller }: Step,
  name: BatchColumnName,
  changed: readonly Changed<ColumnRow>[],
): Promise<void> {
  const { subject, type, changesAudience } = columns[name];
  const table = sql.table(subject === 'asset' ? 'assets' : 'posts');
  const values = changed.map(({ row, record }) => ({ id: row.id, value: record.after }));
  await sql`update ${table} x set ${sql.ref(name)} = (r.value #>> '{}')::${type}, updated_at = ${nextUpdatedAt}
    from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as r (id uuid, value jsonb) where x.id = r.id`.execute(
    tx,
  );
  if (subject === 'post') {
    const published = changed.filter(({ row }) => !row.draft);
    await announceEach(
      tx,
      caller,
      published.map(({ row }) => row.id),
    );
  }
  if (!changesAudience) return;
  const notify = subject === 'asset' ? notifyPeersOfMembers : notifyPeersOfCollectionsWith;
  await notify(
    tx,
    changed.map(({ row }) => row.id),
    caller.ref,
  );
}

/** Whether a change opens a published post to the public, which may need approvals (APPROVAL-1). */
const opensToPublic = (row: ColumnRow, record: UndoRecord) => !row.draft && record.after === 'public';

/** Why the field does not take a value of this asset; null if it does, or if the column is written by itself. */
function refusalOfField(through: Through | null, row: ColumnRow): Outcome | null {
  if (through === null) return null;
  const { field, clears } = through;
  const refusal = refusalOfPair(field, { ...row, write_capability: field.write_capability }, clears);
  return refusal === null ? null : refused(refusal.sentence);
}

function columnAction(
  name: BatchColumnName,
  step: Step,
  judge: Parameters<typeof changeRows<ColumnRow>>[1]['judge'],
  {
    overrideReason = null,
    through = null,
  }: { overrideReason?: string | null; through?: Through | null } = {},
) {
  const { subject } = columns[name];
  const isPost = subject === 'post';
  const isDraft = isPost ? sql`p.draft` : sql`false`;
  const approved = isPost ? hasApprovals('public_audience') : sql`true`;
  const rights =
    through === null
      ? sql`true as known, true as applies, true as writable`
      : sql`${knownFields(step.caller, 'asset')} as known, ${appliesToAsset} as applies,
          ${writableFields(step.caller, 'asset')} as writable`;
  return changeRows<ColumnRow>(step, {
    subject,
    columns: sql`${sql.ref(`${subject === 'asset' ? 'a' : 'p'}.${name}`)} as value, ${isDraft} as draft,
      ${approved} as approved, ${rights}`,
    joins: through === null ? sql`` : sql`join fields d on d.id = ${through.field.id}`,
    judge(row, record) {
      const outcome = refusalOfField(through, row) ?? judge(row, record);
      if (outcome.outcome !== 'changed' || !isPost || row.approved) return outcome;
      return opensToPublic(row, outcome.record) && (overrideReason === null || !mayOverride(step.caller))
        ? refused(approvalRequired(0, 0, []).sentence)
        : outcome;
    },
    async write(changed) {
      await writeColumn(step, name, changed);
      if (!isPost) return;
      for (const { row, record } of changed)
        if (!row.approved && opensToPublic(row, record))
          await checkApprovals(step.tx, step.caller, row.id, ['public_audience'], overrideReason);
    },
    edited: [name],
  });
}

/** A column that a field mirrors. */
type MirroredColumn = NonNullable<HeldField['mirrors_column']>;

/** Why the field does not take this text; null if it does. */
function refusalOfText(field: HeldField, text: string): Outcome | null {
  if (text === '') return null;
  const [definition, value] = [{ ...field, applies: true }, { kind: 'text', text } as const];
  try {
    checkColumnLength(definition, value);
    checkContent(definition, value);
    return null;
  } catch (error) {
    return refusedBy(error);
  }
}

/**
 * Sets the title or the description through the field that mirrors it, under the rules of the field (FIELD-23), or appends
 * a line to it. No text removes it.
 */
export function writeText(
  name: MirroredColumn,
  field: HeldField,
  text: string,
  { appends = false } = {},
): Action {
  return (step) =>
    columnAction(
      name,
      step,
      ({ value: before }) => {
        const after = appends && before !== '' ? `${before}\n${text}` : text;
        const refusal = refusalOfText(field, after);
        if (refusal !== null) return refusal;
        return before === after ? unchanged : { outcome: 'changed', record: { before, after } };
      },
      { through: { field, clears: text === '' } },
    );
}

/** Sets a property to this value. `check` throws a Refusal if no object may have it. */
export function setColumn(
  name: BatchColumnName,
  after: Value,
  {
    check = noCheck,
    overrideReason = null,
  }: { check?: Check | undefined; overrideReason?: string | null } = {},
): Action {
  return async (step) => {
    await check(step);
    return columnAction(
      name,
      step,
      ({ value: before }) =>
        before === after ? unchanged : { outcome: 'changed', record: { before, after } },
      { overrideReason },
    );
  };
}

/** Sets the property back where it still has the value that was set. */
export function undoColumn(name: BatchColumnName, check: Check = noCheck): Action {
  return async (step) => {
    await check(step);
    return columnAction(name, step, undoing);
  };
}

/** Sets the column that a field mirrors back. A field that takes no new values gives its former one back. */
export const undoText =
  (name: MirroredColumn, field: HeldField): Action =>
  (step) =>
    columnAction(name, step, undoing, { through: { field, clears: true } });

const undoing = ({ value }: ColumnRow, record: UndoRecord | null): Outcome =>
  value === record?.after
    ? { outcome: 'changed', record: { before: record.after, after: record.before } }
    : changedSince;
