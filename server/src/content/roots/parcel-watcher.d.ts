/** The part of the package that roots use. Types are checked without the binary of this system, too. */
declare module '@parcel/watcher' {
  export interface Event {
    path: string;
    type: 'create' | 'update' | 'delete';
  }
  export interface AsyncSubscription {
    unsubscribe(): Promise<void>;
  }
  export function subscribe(
    directory: string,
    heard: (error: Error | null, events: Event[]) => unknown,
  ): Promise<AsyncSubscription>;
}
