import { type Visitor, visit } from './client.ts';

export const rootPassword = 'a long password';

/** The settings with which a service creates its first administrator, `root`. */
export const rootSettings = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: rootPassword };

/** Signs in at a service, by default as its first administrator. */
export async function signInAt(
  address: string,
  username = 'root',
  password = rootPassword,
): Promise<Visitor> {
  const visitor = visit(address);
  await visitor.ok('login', { body: { username, password } });
  return visitor;
}
