import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { openBrowser } from '../support/browser.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { call, publish, upload, uploadReady } from './call.ts';
import { beyondEdge, openAsking, overhang, showMore, visit } from './hands.ts';
import { openStudio } from './studio.ts';

/**
 * The pages, dialogs and menus have nothing that axe reports, in both themes, on a phone and on a desktop. By default each
 * is seen in one theme on a desktop and in the other on a phone, by turns, and is asked all rules on the screen it opens
 * on, so that what appears on several pages is seen in all of these; `ACCESSIBILITY=all` looks at each in all of them.
 */

const screens = { phone: { width: 390, height: 844 }, desktop: { width: 1440, height: 900 } };
type Screen = keyof typeof screens;

const studio = await openStudio({}, { browser: await openBrowser({ compiles: true }) });
/** A finger shows everything that a mouse must be above. */
const finger = { viewport: screens.desktop, hasTouch: true, isMobile: true };
const mara = await studio.enter('mara', finger);
const desk = await studio.enter('mara', { viewport: screens.desktop });
const ben = await studio.join('ben', 'Ben Lund', finger);
const visitor = await studio.openPage(finger);

// A library in which every page has something to show.
const [film, report, pier, quay, note] = await Promise.all([
  clip({
    format: 'webm',
    video: { encoder: 'libvpx-vp9', options: { deadline: 'realtime', 'cpu-used': '8' } },
  }).then((bytes) => uploadReady(mara, bytes, { title: 'Tide' }, 'tide.webm')),
  uploadReady(mara, pdf(['One', 'Two', 'Three']), { title: 'Report' }, 'report.pdf'),
  jpeg(600, 400).then((bytes) => uploadReady(mara, bytes, { title: 'Pier', tags: 'harbour,dusk' })),
  jpeg(400, 600, { seed: 2 }).then((bytes) => uploadReady(mara, bytes, { title: 'Quay', tags: 'harbour' })),
  uploadReady(mara, plainText(), { title: 'Note' }, 'note.txt'),
]);
await upload(mara, await jpeg(600, 400), { title: 'Pier again' });
const team = (await call(mara, 'POST', '/teams', { name: 'Dockers', description: 'Those at the quay' })).id;
const words = {
  description: 'At the pier #harbour',
  tags: ['harbour'],
  team_id: team,
  visibility: 'public' as const,
};
const post = await publish(mara, 'Harbour', [pier, quay, film, report, note], words);
const single = await publish(mara, 'Alone', [quay], { tags: ['dusk'], visibility: 'private' });
await publish(mara, 'Unfinished', [pier], { draft: true });
await call(mara, 'POST', `/posts/${post}/comments`, { body: 'What light!' });
const { id: remark } = await call(ben, 'POST', `/posts/${post}/comments`, { body: 'Where was this, @mara?' });
await call(mara, 'POST', `/posts/${post}/comments`, { body: 'At the old pier', parent_id: remark });
await call(ben, 'POST', `/posts/${post}/like`);
await call(mara, 'PUT', `/posts/${post}/featured`);
await call(ben, 'PUT', `/tags/harbour/follow`);
await call(ben, 'PUT', `/teams/${team}/follow`);
const collection = (await call(mara, 'POST', '/collections', { name: 'Coasts', visibility: 'public' })).id;
await call(mara, 'PUT', `/collections/${collection}/posts/${post}`);
const strokes = [
  {
    color: '#e03131',
    width: 0.01,
    points: [
      [0.2, 0.2],
      [0.5, 0.6],
    ],
  },
];
const board = (await call(mara, 'POST', `/posts/${post}/whiteboards`, { title: 'Sketch', strokes })).id;
const field = (await call(mara, 'POST', '/fields', { code: 'berth', label: 'Berth', type: 'text' })).id;
const kinds = {
  values: [
    { value: 'wide', label: 'Wide' },
    { value: 'close', label: 'Close' },
  ],
};
await call(mara, 'POST', '/fields', { code: 'shot', label: 'Shot', type: 'select', options: kinds });
await call(mara, 'PUT', `/assets/${pier}/fields/${field}`, { value_text: 'Four' });
const { ref: benRef } = await call(ben, 'GET', '/auth/me');
await call(mara, 'PUT', `/teams/${team}/members/${benRef}`);
const review = (await call(mara, 'POST', `/posts/${post}/reviews`, { reviewers: [{ team_id: team }] })).id;
const secret = await uploadReady(mara, await jpeg(60, 40, { seed: 7 }), {
  title: 'Plans',
  sensitivity: 'restricted',
});
await call(ben, 'POST', `/assets/${secret}/request-access`, { reason: 'For the book' });
const { id: link, url: linkUrl } = await call(mara, 'POST', `/posts/${post}/links`, {
  label: 'For Ida',
  allow_download: true,
});
const invitation: string = (await call(mara, 'POST', '/admin/invitations', { role: 'member' })).url;
await call(mara, 'POST', '/auth/tokens', { name: 'Export', scopes: ['read'] });
await call(mara, 'POST', '/admin/providers', {
  name: 'studio',
  kind: 'oidc',
  label: 'Studio account',
  issuer: 'https://login.example',
  client_id: 'vitrine',
  client_secret: 'made by the provider',
});
const gone = await publish(mara, 'Gone', [quay]);
await call(mara, 'DELETE', `/posts/${gone}`);

/** An address of every route that has a page. */
const addresses: Readonly<Record<string, string>> = {
  '/': '/',
  '/admin/appearance': '/admin/appearance',
  '/admin/audit': '/admin/audit',
  '/admin/deletions': '/admin/deletions',
  '/admin/doctor': '/admin/doctor',
  '/admin/downloads': '/admin/downloads',
  '/admin/exposed': '/admin/exposed',
  '/admin/fields': '/admin/fields',
  '/admin/fields/[id]': `/admin/fields/${field}`,
  '/admin/imports': '/admin/imports',
  '/admin/invitations': '/admin/invitations',
  '/admin/jobs': '/admin/jobs',
  '/admin/links': '/admin/links',
  '/admin/mail': '/admin/mail',
  '/admin/peers': '/admin/peers',
  '/admin/peers/[id]/fields': `/admin/peers/${team}/fields`,
  '/admin/previews': '/admin/previews',
  '/admin/providers': '/admin/providers',
  '/admin/providers/[name]': '/admin/providers/studio',
  '/admin/providers/new': '/admin/providers/new',
  '/admin/registration': '/admin/registration',
  '/admin/reviews': '/admin/reviews',
  '/admin/roles': '/admin/roles',
  '/admin/roots': '/admin/roots',
  '/admin/sign-ins': '/admin/sign-ins',
  '/admin/site': '/admin/site',
  '/admin/storage': '/admin/storage',
  '/admin/texts': '/admin/texts',
  '/admin/users': '/admin/users',
  '/admin/users/[ref]': `/admin/users/${benRef}`,
  '/admin/users/[ref]/why': `/admin/users/${benRef}/why`,
  '/admin/users/import': '/admin/users/import',
  '/assets': '/assets',
  '/assets/[id]': `/assets/${pier}`,
  '/assets/duplicates': '/assets/duplicates',
  '/assets/import': '/assets/import',
  '/changes': '/changes',
  '/collections': '/collections',
  '/collections/[id]': `/collections/${collection}`,
  '/design': '/design',
  '/drafts': '/drafts',
  '/links/[id]': `/links/${link}`,
  '/notifications': '/notifications',
  '/posts/[id]': `/posts/${post}`,
  '/posts/[id]/edit': `/posts/${post}/edit`,
  '/posts/[id]/whiteboards/[board]': `/posts/${post}/whiteboards/${board}`,
  '/requests': '/requests?view=received',
  '/reviews': '/reviews',
  '/reviews/[id]': `/reviews/${review}`,
  '/search': '/search?q=harbour',
  '/search/by-image': '/search/by-image',
  '/settings/data': '/settings/data',
  '/settings/links': '/settings/links',
  '/settings/notifications': '/settings/notifications',
  '/settings/preferences': '/settings/preferences',
  '/settings/profile': '/settings/profile',
  '/settings/security': '/settings/security',
  '/settings/sessions': '/settings/sessions',
  '/settings/tokens': '/settings/tokens',
  '/tags': '/tags',
  '/tags/[tag]': '/tags/harbour',
  '/teams': '/teams',
  '/teams/[id]': `/teams/${team}`,
  '/trash': '/trash',
  '/users/[username]': '/users/mara',
  '/map': '/map',
  '/people': '/people',
  '/timeline': '/timeline',
  // Last, because it asks before it is left.
  '/new': '/new',
};

/** Those that only visitors see. */
const forVisitors: Readonly<Record<string, string>> = {
  '/forgot-password': '/forgot-password',
  '/invite/[token]': new URL(invitation).pathname,
  '/register': '/register',
  '/reset/[token]': '/reset/nothing',
  '/s/[token]': new URL(linkUrl).pathname,
  '/second-factor': '/second-factor',
  '/setup': '/setup',
  '/sign-in': '/sign-in',
  '/verify/[token]': '/verify/nothing',
};

/** The state of the library or of the session in which a route is open. */
const states: Readonly<Record<string, { readonly address: string; readonly json: unknown }>> = {
  '/setup': { address: '**/api/v1/setup/status', json: { needs_setup: true, code_required: true } },
  '/second-factor': {
    address: '**/api/v1/auth/me',
    json: { ...(await call(ben, 'GET', '/auth/me')), required_step: 'second_factor' },
  },
};

const routes = join(import.meta.dirname, '../../../web/src/routes');

/** Returns the routes that have a page. */
async function routesWithPages(): Promise<string[]> {
  const files = await readdir(routes, { recursive: true });
  const ofApp = files
    .filter((file) => file.endsWith('+page.svelte'))
    .map((file) => `/${dirname(file)}`.replace(/\/\([a-z]+\)/g, '').replace(/^\/\.?$/, '') || '/');
  // A document of its own.
  return [...ofApp, '/sign-in'];
}

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
for (const page of [mara, desk, ben, visitor]) await page.context().addInitScript({ content: source });

/** Waits until the page has its heading and has changed nothing for a while. */
async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await page.evaluate(async () => {
    const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    let before = '';
    for (let tries = 0; tries < 60 && (before === '' || before !== document.body.innerHTML); tries += 1) {
      before = document.body.innerHTML;
      await rest(80);
    }
  });
}

const allRules: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** Those whose answer depends on colours, sizes and what is hidden. The others read attributes and the structure. */
const visualRules: axe.RunOnly = {
  type: 'rule',
  values: [
    'color-contrast',
    'link-in-text-block',
    'target-size',
    'scrollable-region-focusable',
    'aria-hidden-focus',
    'page-has-heading-one',
    'heading-order',
    'aria-command-name',
    'aria-input-field-name',
    'aria-toggle-field-name',
    'button-name',
    'input-button-name',
    'label',
    'link-name',
    'select-name',
    'summary-name',
  ],
};

/** Returns what axe finds: the rule, and the first elements that break it. */
async function findings(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  const options: axe.RunOptions = { resultTypes: ['violations'], runOnly };
  const { violations } = await page.evaluate(
    // The cast names what the script above adds to the page.
    (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(document, options),
    options,
  );
  return violations.map(({ id, nodes }) => {
    const [first] = nodes;
    return `${id} (${nodes.length}): ${first?.html.slice(0, 300)} ${first?.failureSummary?.replace(/\s+/g, ' ')}`;
  });
}

/** Where the heading of each route starts in a wide window, and what is wrong with its layout. */
const headings = new Map<string, number>();
const misplaced: string[] = [];

/** Notes where the heading starts, and whether several buttons look like the main action of the page. */
async function measure(page: Page, route: string): Promise<void> {
  const { start, main } = await page.evaluate(() => {
    const heading = document.querySelector('h1:not([role=alert] *)');
    const ink = getComputedStyle(document.body).color;
    const buttons = [...document.querySelectorAll(':is(header, main) :is(a, button)')].filter(
      (one) =>
        one.checkVisibility() &&
        one.textContent?.trim() !== '' &&
        getComputedStyle(one).backgroundColor === ink,
    );
    return {
      // A hidden heading has a negative margin.
      start:
        heading &&
        heading.getBoundingClientRect().left - Number.parseFloat(getComputedStyle(heading).marginLeft),
      main: buttons.map((one) => one.textContent?.trim()),
    };
  });
  if (start !== null) headings.set(route, Math.round(start));
  // The design page shows all of them.
  if (main.length > 1 && route !== '/design')
    misplaced.push(`${route} has several main actions: ${main.join(', ')}`);
}

/** Notes a page that is wider than a phone. */
async function measureWidth(page: Page, route: string): Promise<void> {
  if ((await overhang(page)) > 0)
    misplaced.push(`${route} is too wide for a phone because of ${await beyondEdge(page)}`);
}

/** What a reader sees through, where nothing should show. */
const transparent: string[] = [];

/**
 * Notes a header that pictures show through while the page scrolls below it, and an icon on a card without the backdrop of
 * the number of files beside it.
 */
async function lookThrough(page: Page, name: string): Promise<void> {
  const found = await page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d');
    const alphaOf = (element: Element): number => {
      const { backgroundColor, opacity } = getComputedStyle(element);
      if (context === null) return 0;
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = backgroundColor;
      context.fillRect(0, 0, 1, 1);
      return ((context.getImageData(0, 0, 1, 1).data[3] ?? 0) / 255) * Number(opacity);
    };
    const header = document.querySelector('body header');
    let stays = false;
    for (let at = header; at != null; at = at.parentElement)
      stays ||= ['sticky', 'fixed'].includes(getComputedStyle(at).position);
    const backdropOf = (icon: Element): string => {
      const badge = icon.closest('.badge');
      return badge === null ? 'none' : getComputedStyle(badge).backgroundColor;
    };
    const backdrops = [
      ...document.querySelectorAll('[data-tile] .badge svg, [data-tile]:has([data-post]) svg.lucide-lock'),
    ].map(backdropOf);
    return {
      header: stays && header !== null && alphaOf(header) < 1,
      backdrops: [...new Set(backdrops)],
    };
  });
  if (found.header) transparent.push(`the header of ${name}`);
  if (found.backdrops.length > 1 || found.backdrops.includes('none'))
    transparent.push(`icons on cards of ${name}: ${found.backdrops.join(', ')}`);
}

const seesAll = process.env.ACCESSIBILITY === 'all';
/** The other theme of each. */
const themes = { light: 'dark', dark: 'light' } as const;

/**
 * Checks what a page shows on each screen, in one theme or both. It begins on the screen that the page has, and leaves it
 * on the other.
 */
async function check(page: Page, name: string, measured = false): Promise<string[]> {
  const found: string[] = [];
  // The same theme in every run.
  const onDesktop = name.length % 2 === 0 ? 'light' : 'dark';
  const look = async (screen: Screen, colorScheme: keyof typeof themes, rules: axe.RunOnly) => {
    await page.emulateMedia({ colorScheme });
    await lookThrough(page, `${name}, ${screen}, ${colorScheme}`);
    const all = await findings(page, rules);
    found.push(...all.map((one) => `${name}, ${screen}, ${colorScheme}: ${one}`));
  };
  const stand = async (screen: Screen, rules: axe.RunOnly) => {
    const theme = screen === 'desktop' ? onDesktop : themes[onDesktop];
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(screens[screen]);
    await settle(page);
    if (measured) await (screen === 'desktop' ? measure(page, name) : measureWidth(page, name));
    await look(screen, theme, seesAll ? allRules : rules);
    if (seesAll) await look(screen, themes[theme], visualRules);
  };
  const first = page.viewportSize()?.width === screens.phone.width ? 'phone' : 'desktop';
  await stand(first, allRules);
  await stand(first === 'phone' ? 'desktop' : 'phone', visualRules);
  return found;
}

// ABLE-1
test('every route has an address here', async () => {
  const all = [...Object.keys(addresses), ...Object.keys(forVisitors)];
  expect(all.toSorted()).toEqual((await routesWithPages()).toSorted());
});

/** Returns entries in groups, each of which one test can look at in time on a slow machine. */
const inGroups = <T>(entries: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(entries.length / size) }, (_, at) =>
    entries.slice(at * size, (at + 1) * size),
  );

// ABLE-1
describe('axe finds nothing on', () => {
  test.each(
    inGroups(Object.entries(addresses), 12).map((group) => ({ names: group.map(([route]) => route), group })),
  )('$names', async ({ group }) => {
    const found: string[] = [];
    for (const [route, path] of group) {
      await visit(mara, path);
      found.push(...(await check(mara, route, true)));
    }
    expect(found).toEqual([]);
  });

  test('what only visitors see', async () => {
    const found: string[] = [];
    for (const [route, path] of Object.entries(forVisitors)) {
      // Its lists need a session.
      const page = route === '/second-factor' ? ben : visitor;
      const state = states[route];
      if (state !== undefined)
        await page.route(state.address, (reply) => reply.fulfill({ json: state.json }));
      await openAsking(page, path);
      found.push(...(await check(page, route, true)));
      if (state !== undefined) await page.unroute(state.address);
    }
    expect(found).toEqual([]);
  });
});

/** Where headings start at 1440 pixels. Those of other routes start at the edge. */
const starts: readonly (readonly [start: number, routes: RegExp])[] = [
  // In the column beside pictures.
  [1040, /^\/(new|posts\/\[id\](\/edit)?|reviews\/\[id\]|assets\/\[id\])$/],
  // In a column in the middle: settings, administration, lists of what happened, and what is in front of the library.
  [360, /^\/(settings|admin|changes|design|links|notifications|requests|reviews|trash)/],
  [360, /^\/(forgot-password|invite|register|reset|second-factor|setup|sign-in|verify)/],
];

/** Pages that only say why they do not open: the library has no peer, and nobody may register. */
const problems = ['/admin/peers/[id]/fields', '/register'];

// DESIGN-1, DESIGN-2
test('at 1440 pixels headings start at three places, and a page has one main action', () => {
  const startOf = (route: string) => starts.find(([, routes]) => routes.test(route))?.[0] ?? 24;
  const routes = Object.keys({ ...addresses, ...forVisitors }).filter((route) => !problems.includes(route));
  expect
    .soft(Object.fromEntries(headings))
    .toEqual(Object.fromEntries(routes.map((route) => [route, startOf(route)])));
  expect(misplaced).toEqual([]);
});

// DESIGN-4
test('nothing shows through the header of any page, and icons on cards have one backdrop', () => {
  expect(transparent).toEqual([]);
});

interface Layer {
  readonly name: string;
  /** The page that it opens on; absent if it opens above the layer before. */
  readonly path?: string;
  open(page: Page): Promise<unknown>;
  appears(page: Page): Locator;
}

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).first().click();
const key = (key: string) => (page: Page) => page.keyboard.press(key);
const menu = (page: Page) => page.getByRole('menu');
const dialog = (page: Page) => page.getByRole('dialog');
const labelled = (label: string) => (page: Page) => page.getByLabel(label);
const fullScreen = press('Full screen');

async function chooseFirst(page: Page): Promise<void> {
  const posts = page.getByRole('list', { name: 'Posts' });
  await posts.getByRole('link', { name: /^Harbour/ }).focus();
  await page.keyboard.press(' ');
}

/** What opens above a page. */
const layers: readonly Layer[] = [
  { name: 'account menu', path: '/', open: press('Account'), appears: menu },
  { name: 'notifications', path: '/', open: press(/^Notifications/), appears: dialog },
  {
    name: 'suggestions',
    path: '/',
    open: (page) => page.getByRole('combobox', { name: 'Search the library' }).fill('har'),
    appears: (page) => page.getByRole('listbox'),
  },
  {
    name: 'selected posts',
    path: '/',
    open: chooseFirst,
    appears: (page) => page.getByRole('region', { name: 'Selection' }),
  },
  { name: 'save to a collection', path: `/posts/${single}`, open: press(/^Save /), appears: dialog },
  { name: 'share link', path: `/posts/${single}`, open: press('Share link'), appears: dialog },
  { name: 'ask for a review', path: `/posts/${single}`, open: press('Ask for a review'), appears: dialog },
  { name: 'viewer of a picture', path: `/posts/${single}`, open: fullScreen, appears: dialog },
  { name: 'details in the viewer', open: key('i'), appears: labelled('Close the details') },
  {
    name: 'comments in the viewer',
    open: press(/^Comments/),
    appears: labelled('Close the comments'),
  },
  { name: 'shortcuts', open: key('?'), appears: labelled('Close the shortcuts') },
  { name: 'viewer of a film', path: `/assets/${film}`, open: fullScreen, appears: dialog },
  { name: 'viewer of pages', path: `/assets/${report}`, open: fullScreen, appears: dialog },
  { name: 'viewer of a text', path: `/assets/${note}`, open: fullScreen, appears: dialog },
  {
    name: 'form of an asset',
    path: `/assets/${pier}`,
    open: press('Edit'),
    appears: (page) => page.getByRole('region', { name: 'Fields' }),
  },
  { name: 'menu of assets', path: '/assets', open: press('More'), appears: menu },
  { name: 'new collection', path: '/collections', open: press('New collection'), appears: dialog },
  {
    name: 'deleting a collection',
    path: `/collections/${collection}`,
    open: async (page) => {
      await showMore(page);
      await press('Delete')(page);
    },
    appears: (page) => page.getByRole('alertdialog'),
  },
  { name: 'editing a collection', path: `/collections/${collection}`, open: press('Edit'), appears: dialog },
  { name: 'advanced search', path: '/search?q=harbour', open: press(/Advanced/), appears: dialog },
];

/** The layers by the page that they open on, in the order in which they open. */
const layersByPage = layers.reduce<{ path: string; names: string[]; layers: Layer[] }[]>((pages, layer) => {
  if (layer.path !== undefined) pages.push({ path: layer.path, names: [], layers: [] });
  const page = pages.at(-1);
  page?.names.push(layer.name);
  page?.layers.push(layer);
  return pages;
}, []);

// ABLE-1
test.each(layersByPage)('axe finds nothing in $names', async ({ path, layers }) => {
  // A page of its own between them, so that nothing stays open.
  await visit(desk, '/settings/sessions');
  await visit(desk, path);
  await settle(desk);
  const found: string[] = [];
  for (const { name, open, appears } of layers) {
    await open(desk);
    await appears(desk).first().waitFor();
    found.push(...(await check(desk, name)));
    await desk.setViewportSize(screens.desktop);
  }
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Escape');
  expect(found).toEqual([]);
});
