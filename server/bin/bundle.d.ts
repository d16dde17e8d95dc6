/** Returns the folder of the bundle of the present sources, whether it exists or not. */
export function bundleFolder(): string;
