import type { FieldCreate, FieldDefinition } from '@vitrine/contract/fields';
import {
  type About,
  assetFieldNames,
  assetFields,
  collectionFieldNames,
  collectionFields,
} from '../described-world.ts';
import { postAdministrators, shownEverything, teams } from '../matrix.ts';
import { readDoor, refusalOf, together } from '../send-requests.ts';
import { asksAll } from '../setting.ts';
import type { Caller } from '../world.ts';

/** Definitions of fields, and who sees them (FIELD-10). */

/** Administrators of fields see all definitions, but no additional values. */
const configures = ({ name }: Caller) => name === 'fields.admin' || name === 'system.admin';
const inSomeTeam = (table: Record<(typeof teams)[number], readonly string[]>, who: string) =>
  teams.some((team) => table[team].includes(who));
export const holdsSomewhere = (code: string, who: string) =>
  who === 'system.admin' || inSomeTeam(code === 'posts.admin' ? postAdministrators : shownEverything, who);

function knows(caller: Caller, isArchived: boolean, gate: string | null | undefined): boolean {
  if (configures(caller)) return true;
  return !isArchived && (gate === null || gate === undefined || holdsSomewhere(gate, caller.kind));
}

export async function lookAtDefinitions(about: About) {
  const { ledger, callers, fields, shelfFields } = about;
  const archived = ['archived', 'archivedChoice', 'archivedGated'];
  const gateOf = (body: Partial<FieldCreate>) => body.read_capability;
  const cells = [
    ...assetFieldNames.map((name) => ({ name, field: fields[name], gate: gateOf(assetFields[name].body) })),
    ...collectionFieldNames.map((name) => ({
      name,
      field: shelfFields[name],
      gate: gateOf(collectionFields[name].body),
    })),
  ];
  await together([...callers.entries()], async ([place, caller]) => {
    const refusal = refusalOf(caller, readDoor);
    const { status, text } = await caller.visitor.send('/fields?status=any&limit=200');
    ledger.hold(`${caller.name}: /fields: status`, status, refusal ?? 200);
    const listed: { items: FieldDefinition[] } = status === 200 ? JSON.parse(text) : { items: [] };
    const codes = new Set(listed.items.map(({ code }) => code));
    const lets = caller.name === 'anonymous' || caller.scopes === null || caller.scopes.includes('admin');
    for (const [index, { name, field, gate }] of cells.entries()) {
      const label = `${caller.name}: definition ${name} ${gate ?? ''}`;
      const isKnown = knows(caller, archived.includes(name), gate);
      ledger.hold(`${label}: listed`, codes.has(field.code), refusal === null && isKnown);
      // Alternates, because the list already shows which definitions exist for the caller.
      if (!asksAll && (index + place) % 3 !== 0) continue;
      const one = await caller.visitor.send(`/fields/${field.id}`);
      ledger.hold(label, one.status, refusal ?? (isKnown ? 200 : 404));
      if (field.type !== 'select') continue;
      const offered = await caller.visitor.send(`/fields/${field.id}/values`);
      ledger.hold(`${label}: offered`, offered.status, refusal ?? (isKnown ? 200 : 404));
    }
    const vocabulary = await caller.visitor.send(`/fields/${fields.vocabulary.id}/values`);
    if (refusal === null) {
      const { can_extend }: { can_extend: boolean } = JSON.parse(vocabulary.text);
      // Every member may extend vocabularies; viewers need the capability, in any team.
      const extends_ = caller.name !== 'anonymous' && caller.name !== 'viewer';
      ledger.hold(`${caller.name}: may extend`, can_extend, extends_);
    }
    // Only administrators of fields see the defaults of teams.
    const overrides = await caller.visitor.send(`/fields/${fields.plain.id}/default-overrides`);
    const due = caller.name === 'anonymous' ? 401 : configures(caller) && lets ? 200 : 403;
    ledger.hold(`${caller.name}: overrides`, overrides.status, due);
  });
}
