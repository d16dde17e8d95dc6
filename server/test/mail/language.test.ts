import { afterAll, beforeEach, expect, test } from 'vitest';
import { comment, publisher, settle } from '../notifications/telling.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { setEmail } from '../support/people.ts';
import { openPushService } from '../support/push-service.ts';
import { openMailbox } from './mailbox.ts';

const mailbox = await openMailbox();
const pushService = await openPushService();
const library = await openLibrary({
  VITRINE_SMTP_URL: mailbox.url,
  VITRINE_BASE_URL: 'https://pictures.example.org',
  VITRINE_PUSH_PRIVATE_ADDRESSES: 'on',
});
const root = await library.join('root', 'admin');
afterAll(async () => {
  await mailbox.close();
  await pushService.close();
});
beforeEach(() => mailbox.empty());

/** Returns an account with an e-mail whose pages are in this language. */
async function reader(username: string, language: string): Promise<Account> {
  const account = await library.join(username);
  await setEmail(library, account, `${username}@example.org`);
  await account.ok('updatePreferences', { body: { language } });
  return account;
}

/** Sends a form without a session, from a browser in Japanese. */
async function ask(path: string, body: object): Promise<void> {
  const response = await fetch(`${library.address}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': 'ja,en;q=0.5' },
    body: JSON.stringify(body),
  });
  expect(response.status, path).toBe(202);
}

const subjectTo = (name: string) => mailbox.to(`${name}@example.org`).at(-1)?.subject;

/** Mails an account about a mention in a post with this title, and returns the mail. */
async function mentionMail(account: Account, title: string) {
  const other = await library.join(`writer-of-${account.username}`);
  await comment(other, await publisher(other)({ title }), `@${account.username}`);
  await settle(library);
  const [mail, ...more] = mailbox.to(`${account.username}@example.org`);
  expect(more).toEqual([]);
  return { mail, who: other.username };
}

// LANGUAGE-4
test('a mail is in the language of its recipient', async () => {
  const { mail, who } = await mentionMail(await reader('greta', 'de'), 'Der Turm');
  expect(mail?.subject).toBe(`${who} hat Sie in „Der Turm“ erwähnt`);
  expect(mail?.text).toContain('Guten Tag greta,');
  expect(mail?.text).toContain(
    'Benachrichtigungseinstellungen: https://pictures.example.org/settings/notifications',
  );
  expect(mail?.html).toContain('<html lang="de" dir="ltr">');
});

// LANGUAGE-4
test('a mail in a language from right to left has its direction, and its values keep theirs', async () => {
  const { mail, who } = await mentionMail(await reader('amal', 'ar'), '<b>🗼</b>');
  expect(mail?.html).toContain('<html lang="ar" dir="rtl">');
  expect(mail?.html).not.toContain('<b>');
  expect(mail?.subject).toBe(`أشار إليك \u2068${who}\u2069 في «\u2068<b>🗼</b>\u2069»`);
});

// LANGUAGE-1, LANGUAGE-4
test('a mail to an account that prefers a language without texts, or none, is in English', async () => {
  const { mail, who } = await mentionMail(await reader('sven', 'sv'), 'Tornet');
  expect(mail?.subject).toBe(`${who} mentioned you in “Tornet”`);
  mailbox.empty();
  const { mail: plain } = await mentionMail(await reader('sam', ''), 'Tower');
  expect(plain?.html).toContain('<html lang="en" dir="ltr">');
});

// LANGUAGE-4
test('a mail that was asked for without signing in is in the language of the browser', async () => {
  await reader('mira', '');
  await reader('piet', 'nl');
  for (const login of ['mira', 'piet']) await ask('/auth/password-reset', { login });
  await root.ok('updateAccountSettings', { body: { registration: 'open' } });
  await ask('/auth/register', { username: 'nao', email: 'nao@example.org', password });
  await settle(library);
  expect(subjectTo('mira')).toBe('Vitrine の新しいパスワード');
  expect(subjectTo('piet')).toBe('Een nieuw wachtwoord voor Vitrine');
  expect(subjectTo('nao')).toBe('Vitrine のメールアドレスの確認');
});

// LANGUAGE-4
test('an invitation and a test mail are in the language of the administrator who sends them', async () => {
  await root.ok('updatePreferences', { body: { language: 'de' } });
  await root.ok('createInvitation', { body: { email: 'guest@example.org' } });
  await settle(library);
  expect(subjectTo('guest')).toBe('root lädt Sie zu Vitrine ein');
  await root.ok('sendTestMail', { body: { to: 'operator@example.org' } });
  expect(subjectTo('operator')).toBe('Eine Testnachricht von Vitrine');
});

// LANGUAGE-4
test('a mail about a deleted account is in the language that the account had', async () => {
  const leaver = await reader('leaver', 'nl');
  await leaver.ok('requestDeletion', { body: {} });
  const { id } = await leaver.ok('getDeletionRequest');
  await root.ok('decideDeletionRequest', { params: { id }, body: { decision: 'delete' } });
  await settle(library);
  expect(subjectTo('leaver')).toBe('Je account op Vitrine is verwijderd');
});

// LANGUAGE-4
test('the page that turns mail off is in the language of the browser', async () => {
  const { mail } = await mentionMail(await reader('ute', 'de'), 'Der Turm');
  const header = mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const { pathname, search } = new URL(header.slice(1, -1));
  const send = async (language: string, init: RequestInit = {}) => {
    const headers = { 'accept-language': language, 'content-type': 'application/x-www-form-urlencoded' };
    return (await fetch(`${library.address}${pathname}${search}`, { ...init, headers })).text();
  };
  const asked = await send('he');
  expect(asked).toContain('<html lang="he" dir="rtl">');
  expect(asked).toContain('<button>כיבוי הדואר</button>');
  const done = await send('ja', { method: 'POST', body: 'List-Unsubscribe=One-Click' });
  expect(done).toContain('<html lang="ja" dir="ltr">');
  expect(done).toContain('メールは停止されました');
});

// LANGUAGE-4, PUSH-3
test('a push message is in the language of its recipient', async () => {
  const anna = await reader('anna', 'pl');
  const browser = pushService.browser();
  await anna.ok('createPushSubscription', { body: browser.subscription });
  const other = await library.join('bob');
  await comment(other, await publisher(anna)({ title: 'Wieża' }));
  await settle(library);
  expect(browser.messages()).toEqual([
    expect.objectContaining({
      data: expect.objectContaining({ text: 'bob: komentarz do Twojego posta „Wieża”' }),
    }),
  ]);
});
