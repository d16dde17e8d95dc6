/**
 * Marks a text of the code that people read, when nothing else shows that it is one: most literals that begin with a
 * small letter are codes. The build does not read `throw` statements, so their texts are constants before them.
 */
export const phrase = (original: string): string => original;
