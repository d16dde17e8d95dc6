import type { FieldCreate, FieldDefinition, FieldUpdate } from '@vitrine/contract/fields';
import type { Visitor } from '../support/client.ts';

let made = 0;

/** Creates a field; by default a text field with a unique code. */
export async function define(admin: Visitor, body: Partial<FieldCreate> = {}): Promise<FieldDefinition> {
  made += 1;
  return admin.ok('createField', {
    body: { code: `field_${made}`, label: 'A field', type: 'text', ...body },
  });
}

export async function change(admin: Visitor, id: string, body: FieldUpdate): Promise<FieldDefinition> {
  return admin.ok('updateField', { params: { id }, body });
}

/** Returns the error of the 400 for a body of `POST /fields`. */
export async function notDefined(admin: Visitor, body: Record<string, unknown>): Promise<string> {
  made += 1;
  const sent = { code: `field_${made}`, label: 'A field', type: 'text', ...body };
  return refusalOf(admin, 'POST', '/fields', sent);
}

/** Returns the error of the 400 for a body of `PATCH /fields/{id}`. */
export async function notChanged(admin: Visitor, id: string, body: Record<string, unknown>): Promise<string> {
  return refusalOf(admin, 'PATCH', `/fields/${id}`, body);
}

async function refusalOf(admin: Visitor, method: string, path: string, body: unknown): Promise<string> {
  const answer = await admin.send(path, { method, body });
  const { error }: { error?: string } = JSON.parse(answer.text);
  if (answer.status !== 400 || error === undefined)
    throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  return error;
}
