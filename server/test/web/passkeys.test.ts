import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { totpCode } from '../support/people.ts';
import { call } from './call.ts';
import {
  accountButton,
  dialogClosed,
  offerPassword,
  overhang,
  phone,
  signInButton,
  signOut,
  visit,
} from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
/** Browsers offer no passkeys under an IP address. */
const baseURL = studio.address.replace('127.0.0.1', 'localhost');
const sizes = { 390: phone, 1440: { viewport: { width: 1440, height: 900 } } };

/** Gives the browser of a page an authenticator that confirms every request. */
async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
  return {
    /** Whether the person confirms with their fingerprint. */
    confirm: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    forget: () => devtools.send('WebAuthn.clearCredentials', { authenticatorId }),
  };
}

const rows = (page: Page) => page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem');
const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });

async function add(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog');
  await expect.poll(() => dialog.getByLabel('Name').inputValue()).toMatch(/^Chrome on /);
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await rows(page).filter({ hasText: name }).waitFor();
}

// PASSKEY-1, PASSKEY-5
test.each(Object.entries(sizes))(
  'adds, names, uses and removes a passkey on a screen of %s',
  async (width, screen) => {
    const page = await studio.openPage({ ...screen, baseURL });
    const { confirm, forget } = await addAuthenticator(page);
    const username = `passenger-${width}`;
    await studio.join(username);
    await page.goto('/sign-in');
    await offerPassword(page, username);
    await accountButton(page).waitFor();
    await visit(page, '/settings/security');
    await add(page, 'My laptop');
    await expect.poll(() => rows(page).textContent()).toMatch(/My laptop.*Added.*never used/s);
    expect(await overhang(page)).toBe(0);

    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
    await page.getByText('This device has a passkey of your account already.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    // A menu that opens before closes when the focus returns to the button.
    await dialogClosed(page, page.getByRole('button', { name: 'Add a passkey' }));

    await signOut(page);
    await passkeyButton(page).waitFor();
    expect(await overhang(page)).toBe(0);
    await confirm(false);
    await passkeyButton(page).click();
    await page.getByText('The passkey was not used.').waitFor();
    await confirm(true);
    await passkeyButton(page).click();
    await accountButton(page).waitFor();

    await visit(page, '/settings/security');
    await expect.poll(() => rows(page).textContent()).toMatch(/My laptop.*last used/s);
    await rows(page).getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Old laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await rows(page).filter({ hasText: 'Old laptop' }).waitFor();
    await rows(page).getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await rows(page).first().waitFor({ state: 'detached' });

    await signOut(page);
    await passkeyButton(page).click();
    await page.getByText('This passkey does not work here.').waitFor();
    await forget();
  },
);

// PASSKEY-6
test('uses a passkey in place of the code', async () => {
  const page = await studio.openPage({ baseURL });
  await addAuthenticator(page);
  await studio.join('coder');
  await page.goto('/sign-in');
  await offerPassword(page, 'coder');
  await accountButton(page).waitFor();
  await visit(page, '/settings/security');
  await add(page, 'My phone');
  const { secret_base32 } = await call(page, 'POST', '/account/2fa/enroll');
  await call(page, 'POST', '/account/2fa/confirm', { code: totpCode(secret_base32) });
  await signOut(page);
  await offerPassword(page, 'coder', password);
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await accountButton(page).waitFor();
});

// PASSKEY-4
test('offers no passkey where browsers have none', async () => {
  const page = await studio.openPage();
  await page.goto('/sign-in');
  await signInButton(page).waitFor();
  expect(await passkeyButton(page).count()).toBe(0);
});
