import { type RawBuilder, sql } from 'kysely';
import { hasApprovals, mayOverride } from '../../../access/approvals.ts';
import { notifyPeersOfCollectionsWith, notifyPeersOfMembers } from '../../../core/outbox/enqueue.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { approvalRequired, checkApprovals } from '../../approvals/gates.ts';
import { charactersIn } from '../../fields/types/characters.ts';
import { type Changed, changeRows, type ReadRow, type SubjectKind } from '../rows.ts';
import { type Action, changedSince, refused, type Step, type UndoRecord, unchanged } from '../step.ts';
import { announceEach } from './announce-each.ts';

type Value = string | boolean | null;

interface ColumnRow extends ReadRow {
  value: Value;
  draft: boolean;
  /** Of posts: whether it has the approvals for a public audience. */
  approved: boolean;
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

function columnAction(
  name: BatchColumnName,
  step: Step,
  judge: Parameters<typeof changeRows<ColumnRow>>[1]['judge'],
  overrideReason: string | null = null,
) {
  const { subject } = columns[name];
  const isPost = subject === 'post';
  const isDraft = isPost ? sql`p.draft` : sql`false`;
  const approved = isPost ? hasApprovals('public_audience') : sql`true`;
  return changeRows<ColumnRow>(step, {
    subject,
    columns: sql`${sql.ref(`${subject === 'asset' ? 'a' : 'p'}.${name}`)} as value, ${isDraft} as draft,
      ${approved} as approved`,
    judge(row, record) {
      const outcome = judge(row, record);
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

/** The longest texts of the columns that fields mirror. */
const longest = { title: 500, description: 20_000 } as const;

/** Sets the title or the description, or appends a line to it. */
export function writeText(name: keyof typeof longest, text: string, appends: boolean): Action {
  return (step) =>
    columnAction(name, step, ({ value: before }) => {
      const after = appends && before !== '' ? `${before}\n${text}` : text;
      if (charactersIn(after) > longest[name])
        return refused(refuse('value-too-long', { property: name, max: longest[name] }).sentence);
      return before === after ? unchanged : { outcome: 'changed', record: { before, after } };
    });
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
      overrideReason,
    );
  };
}

/** Sets the property back where it still has the value that was set. */
export function undoColumn(name: BatchColumnName, check: Check = noCheck): Action {
  return async (step) => {
    await check(step);
    return columnAction(name, step, ({ value }, record) =>
      value === record?.after
        ? { outcome: 'changed', record: { before: record.after, after: record.before } }
        : changedSince,
    );
  };
}
