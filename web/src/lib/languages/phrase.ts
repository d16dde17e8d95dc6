/**
 * Marks a text of the code that people read, when nothing else shows that it is one: most literals that begin with a
 * small letter are codes.
 */
export const phrase = (original: string): string => original;
