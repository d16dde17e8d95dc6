import { afterAll } from 'vitest';
import { closeLibraries } from './library.ts';

// A setup file of every test file: a hook registered inside another hook would never run.
afterAll(closeLibraries);
