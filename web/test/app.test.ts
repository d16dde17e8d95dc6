import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startApp } from '#lib/app/start.ts';
import { isOffline } from '#lib/app/stored.ts';

/** A service worker of a browser, as far as the pages use it. */
class FakeWorker extends EventTarget {
  state = 'installing';
  readonly messages: unknown[] = [];
  postMessage(message: unknown) {
    this.messages.push(message);
  }
}

const active = new FakeWorker();
const registration = Object.assign(new EventTarget(), {
  waiting: null as FakeWorker | null,
  installing: null as FakeWorker | null,
});
const container = Object.assign(new EventTarget(), {
  controller: null as FakeWorker | null,
  ready: Promise.resolve({ active }),
  register: async () => registration,
});
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('navigator', { serviceWorker: container });
  vi.stubGlobal('location', { origin: 'https://media.example', reload });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// APP-4
it('announces a new version, which takes over when the reader reloads', async () => {
  const onUpdate = vi.fn();
  await startApp({ ref: 7, impersonated_by: null } as never, [['/api/v1/previews', '{}']], onUpdate);
  expect(active.messages).toEqual([
    { type: 'loaded', addresses: [], brought: [['/api/v1/previews', '{}']], account: 7 },
  ]);
  const install = (worker: FakeWorker) => {
    registration.installing = worker;
    registration.dispatchEvent(new Event('updatefound'));
    worker.state = 'installed';
    registration.waiting = worker;
    worker.dispatchEvent(new Event('statechange'));
  };
  // The first version takes over by itself.
  install(new FakeWorker());
  expect(onUpdate).not.toHaveBeenCalled();
  container.controller = active;
  const next = new FakeWorker();
  install(next);
  expect(onUpdate).toHaveBeenCalledOnce();
  onUpdate.mock.calls[0]?.[0]();
  expect(next.messages).toEqual([{ type: 'update' }]);
  container.dispatchEvent(new Event('controllerchange'));
  expect(reload).toHaveBeenCalledOnce();
});

// APP-2
it('keeps what the feed starts with, and no search, filter or other page of it', () => {
  const kept = (path: string) => isOffline(new URL(path, 'https://media.example'));
  expect(kept('/api/v1/auth/me')).toBe(true);
  expect(kept('/api/v1/posts?limit=50&sort=newest&feed=latest')).toBe(true);
  for (const path of [
    '/api/v1/posts?limit=50&cursor=x',
    '/api/v1/posts?q=x',
    '/api/v1/posts/1',
    '/api/v1/users/1',
  ])
    expect([path, kept(path)]).toEqual([path, false]);
});
