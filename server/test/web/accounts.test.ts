import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openMailbox } from '../mail/mailbox.ts';
import { password } from '../support/library.ts';
import { listen } from '../support/listen.ts';
import { client, openProvider } from '../support/openid.ts';
import { openSamlProvider, readRequest } from '../support/saml.ts';
import { call } from './call.ts';
import { accountButton, offerPassword, overhang, phone, signInButton, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const mailbox = await openMailbox();
const studio = await openStudio({
  VITRINE_SMTP_URL: mailbox.url,
  VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on',
});
const provider = await openProvider(studio.library, 'studio');
afterAll(provider.close);
const fresh = 'a new and better one';
const admin = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
/** The phone of people without an account. */
const outside = await studio.openPage(phone);

/** Signs a browser out here and at providers, which remember who is signed in. */
const forget = (page: Page) => page.context().clearCookies();

/** Returns the address in the newest mail to somebody, once it is there. */
async function mailedTo(email: string): Promise<string> {
  const address = () =>
    /https?:\/\/\S+\/(?:reset|verify)\/\w{32}/.exec(mailbox.to(email).at(-1)?.text ?? '')?.[0];
  await expect.poll(address).toBeDefined();
  return address() ?? '';
}

test('the sign-in page offers what is configured, and nothing else', async () => {
  const page = outside;
  await page.goto('/sign-in');
  await signInButton(page).waitFor();
  for (const text of ['Forgot your password?', 'Register', 'Use a directory account', 'Sign in with'])
    expect([text, await page.getByText(text).count()]).toEqual([text, 0]);
  await visit(page, '/register');
  await page.getByRole('heading', { name: 'Registration is closed' }).waitFor();
});

test('a person registers by mail, and sets a new password when they forgot it', async () => {
  await call(admin, 'PATCH', '/admin/system/site', { base_url: studio.address });
  await admin.goto('/admin/registration');
  await admin.getByRole('radio', { name: /^Open/ }).check();
  await admin.getByLabel('E-mail domains that may register').fill('studio.example');
  await admin.getByRole('button', { name: 'Save' }).click();
  await admin.getByText('Saved', { exact: true }).waitFor();

  const page = outside;
  // Loads the page, because the app keeps what the library offers.
  await page.goto('/sign-in');
  await page.getByRole('link', { name: 'Register' }).click();
  await page.getByRole('heading', { name: 'Register at Studio North' }).waitFor();
  await page.getByLabel('Username').fill('nina');
  await page.getByLabel('E-mail').fill('nina@elsewhere.example');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Repeat password').fill(password);
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByText('E-mails of this domain may not register.').waitFor();
  await page.getByLabel('E-mail').fill('nina@studio.example');
  expect(await overhang(page)).toBe(0);
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByText('Open the link in the mail').waitFor();
  const address = await mailedTo('nina@studio.example');
  await page.goto(address);
  await page.getByRole('button', { name: 'Confirm my e-mail' }).click();
  await page.getByText('Your e-mail is confirmed.').waitFor();
  await page.goto(address);
  await page.getByRole('button', { name: 'Confirm my e-mail' }).click();
  await page.getByText('This link has expired or was already used.').waitFor();

  mailbox.empty();
  await visit(page, '/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Username or e-mail').fill('nina@studio.example');
  await page.getByRole('button', { name: 'Send a link' }).click();
  await page.getByText('a mail is on its way').waitFor();
  await page.goto(await mailedTo('nina@studio.example'));
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
  await page.getByLabel('Password', { exact: true }).fill(fresh);
  await page.getByLabel('Repeat password').fill(fresh);
  expect(await overhang(page)).toBe(0);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await offerPassword(page, 'nina', fresh);
  await accountButton(page).waitFor();

  mailbox.empty();
  await visit(page, '/settings/profile');
  await page.getByLabel('E-mail').fill('nina@home.example');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Open the link in the mail to nina@home.example').waitFor();
  await page.goto(await mailedTo('nina@home.example'));
  await page.getByRole('button', { name: 'Confirm my e-mail' }).click();
  await page.getByText('Your e-mail is confirmed.').waitFor();
  await visit(page, '/settings/profile');
  await expect.poll(() => page.getByLabel('E-mail').inputValue()).toBe('nina@home.example');
});

test('an administrator adds a provider, with which a person links an identity and unlinks it', async () => {
  await visit(admin, '/admin/providers');
  await admin.getByText('No providers yet.').waitFor();
  await admin.getByRole('link', { name: 'Add provider' }).click();
  await admin.getByLabel('Name', { exact: true }).fill('studio');
  await admin.getByLabel('Label').fill('Studio account');
  await admin.getByLabel('Issuer').fill('http://169.254.169.254');
  await admin.getByLabel('Client id').fill(client.id);
  await admin.getByLabel('Client secret').fill(client.secret);
  await admin.getByLabel('Roles of groups').fill('guests');
  await admin.getByRole('button', { name: 'Add provider' }).click();
  await admin.getByText('This is no mapping: guests').waitFor();
  await admin.getByLabel('Roles of groups').fill('guests = viewer');
  await admin.getByRole('button', { name: 'Add provider' }).click();
  await admin.getByText('is not an https address of a public network').waitFor();
  await admin.getByLabel('Issuer').fill(provider.issuer);
  await admin.getByRole('button', { name: 'Add provider' }).click();
  await admin.getByLabel('Redirect address').waitFor();
  await expect.poll(() => admin.getByLabel('Roles of groups').inputValue()).toBe('guests = viewer');
  await admin.getByLabel('Label').fill('Studio North');
  await admin.getByRole('button', { name: 'Save' }).click();
  await admin.getByText('Saved', { exact: true }).waitFor();

  const olga = await studio.join('olga', undefined, phone);
  await olga.goto('/settings/security');
  await olga.getByText('No identities are linked.').waitFor();
  provider.person = { sub: 'id-of-olga', preferred_username: 'olga.k' };
  await olga.getByRole('button', { name: 'Link Studio North' }).click();
  await olga.waitForURL(/linked=studio/);
  await olga.getByText('You can now sign in with Studio North.').waitFor();
  const row = olga.getByRole('list', { name: 'Linked identities' }).getByRole('listitem');
  await row.getByText('olga.k').waitFor();
  expect(await overhang(olga)).toBe(0);
  // An identity belongs to one account.
  await studio.library.join('ines');
  await forget(outside);
  await call(outside, 'POST', '/auth/login', { username: 'ines', password });
  await outside.goto('/settings/security');
  await outside.getByRole('button', { name: 'Link Studio North' }).click();
  await outside.getByText('That identity could not be linked.').waitFor();

  const signInAs = async (person: { sub: string; preferred_username: string }) => {
    provider.person = person;
    await forget(outside);
    await outside.goto('/sign-in?next=%2Ftags');
    await outside.getByRole('link', { name: 'Sign in with Studio North' }).click();
  };
  await signInAs({ sub: 'id-of-a-stranger', preferred_username: 'stranger' });
  await outside.getByText('You have no account here. Ask an administrator.').waitFor();
  const known = { sub: 'id-of-ines', preferred_username: 'Ines' };
  await signInAs(known);
  await outside.getByText('An account here has your name or e-mail address.').waitFor();
  await outside.getByLabel('Password', { exact: true }).fill(password);
  await signInButton(outside).click();
  await outside.waitForURL('**/tags');
  await accountButton(outside).waitFor();
  await signInAs(known);
  await outside.waitForURL('**/tags');
  await accountButton(outside).waitFor();

  await row.getByRole('button', { name: 'Unlink' }).click();
  await olga.getByRole('alertdialog').getByRole('button', { name: 'Unlink' }).click();
  await olga.getByText('No identities are linked.').waitFor();

  await admin.getByRole('button', { name: 'Remove' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Remove provider' }).click();
  await admin.getByText('No providers yet.').waitFor();
});

test('an administrator adds a provider of SAML on a narrow screen and on a wide one', async () => {
  const saml = await openSamlProvider('https://login.example/saml');
  await admin.setViewportSize({ width: 390, height: 900 });
  await visit(admin, '/admin/providers/new');
  await admin.getByRole('radio', { name: /SAML 2.0/ }).check();
  await admin.getByLabel('Name', { exact: true }).fill('company');
  await admin.getByLabel('Label').fill('Studio with SAML');
  await admin.getByLabel('Or the metadata themselves').fill('<EntityDescriptor/>');
  await admin.getByRole('button', { name: 'Add provider' }).click();
  await admin.getByText('metadata cannot be used').waitFor();
  await admin.getByLabel('Or the metadata themselves').fill(saml.metadata);
  await admin.getByRole('button', { name: 'Add provider' }).click();
  await expect
    .poll(() => admin.getByLabel('Address for responses').inputValue())
    .toContain('/api/v1/auth/saml/company/callback');
  await admin.getByText('https://login.example/saml').waitFor();
  for (const width of [390, 1440]) {
    await admin.setViewportSize({ width, height: 900 });
    expect(await overhang(admin), `at ${width}`).toBe(0);
  }
  await admin.getByLabel('What the provider must sign').selectOption('both');
  await admin.getByRole('button', { name: 'Save' }).click();
  await admin.getByText('Saved', { exact: true }).waitFor();
  await admin.getByRole('button', { name: 'Remove' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Remove provider' }).click();
  await admin.getByText('No providers yet.').waitFor();
});

test('a person signs in with a provider of SAML, whose page posts the response', async () => {
  const server = createServer();
  const entityId = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const saml = await openSamlProvider(entityId);
  await call(admin, 'POST', '/admin/providers', {
    kind: 'saml',
    name: 'posting',
    label: 'Studio South',
    metadata: saml.metadata,
    creation: 'first_sign_in',
  });
  const ours = `${studio.address}/api/v1/auth/saml/posting`;
  server.on('request', async ({ url }, response) => {
    const request = readRequest(`${entityId}${url}`);
    if (request.id === '') return void response.writeHead(404).end();
    const metadata = await (await fetch(`${ours}/metadata`)).text();
    const person = { nameId: 'sara', displayName: 'Sara Holm' };
    const fields = {
      SAMLResponse: await saml.respond(request, person, metadata),
      RelayState: request.relayState,
    };
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
    const form = `<form method="post" action="${ours}/callback">${inputs.join('')}</form>`;
    response.setHeader('content-type', 'text/html');
    response.end(`${form}<script>document.forms[0].submit()</script>`);
  });
  const page = outside;
  await forget(page);
  await page.goto('/sign-in?next=%2Ftags');
  await page.getByRole('link', { name: 'Sign in with Studio South' }).click();
  await page.waitForURL(`${studio.address}/tags`);
  await accountButton(page).click();
  await page.getByText('Sara Holm').waitFor();
});
