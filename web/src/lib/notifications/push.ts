import type { Service } from '#lib/service.ts';

/** Whether this browser gets notifications while no page is open. `denied`: the person has blocked them. */
export type PushState = 'unsupported' | 'denied' | 'off' | 'on';

async function workerHere(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register('/service-worker.js');
  return navigator.serviceWorker.ready;
}

function isSupported(): boolean {
  return (
    'serviceWorker' in navigator && typeof PushManager !== 'undefined' && typeof Notification !== 'undefined'
  );
}

/** Returns the id that the service has given to the subscription of this browser. */
async function ownId({ client }: Service, endpoint: string): Promise<string | undefined> {
  const { items } = await client.call('listPushSubscriptions');
  return items.find((item) => item.endpoint === endpoint)?.id;
}

/** Returns the state of this browser. A subscription that the service does not know is off. */
export async function readPushState(service: Service): Promise<PushState> {
  if (!isSupported()) return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription == null) return 'off';
  return (await ownId(service, subscription.endpoint)) === undefined ? 'off' : 'on';
}

async function subscribe(pushManager: PushManager, key: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    const former = await pushManager.getSubscription();
    if (former === null) throw error;
    // It was made with a key that the library no longer has.
    await former.unsubscribe();
    return pushManager.subscribe(options);
  }
}

/** Asks for permission and subscribes this browser. Returns the resulting state. */
export async function turnPushOn({ client }: Service): Promise<PushState> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  const { key } = await client.call('getPushKey');
  const { endpoint, keys } = (await subscribe((await workerHere()).pushManager, key)).toJSON();
  await client.call('createPushSubscription', {
    body: { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } },
  });
  return 'on';
}

/** Ends the subscription of this browser. */
export async function turnPushOff(service: Service): Promise<PushState> {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription == null) return 'off';
  const id = await ownId(service, subscription.endpoint);
  if (id !== undefined) await service.client.call('deletePushSubscription', { params: { id } });
  await subscription.unsubscribe();
  return 'off';
}
