import sharp from 'sharp';

// Disables the growing cache and uses one thread per picture, because a worker processes as many pictures in parallel
// as there are cores.
sharp.cache(false);
sharp.concurrency(1);

/** The only import of sharp. It is large, so the service imports it lazily with the first picture. */
export { sharp };
