import { createRequire } from 'node:module';
import { sentence } from '../../platform/language/sentence.ts';
import { loadLibrary } from '../faults.ts';
import { BrokenFile } from '../still.ts';

/** The part of assimpjs that is used; the package has no types. */
interface Assimp {
  FileList: new () => { AddFile(name: string, bytes: Uint8Array): void };
  ConvertFileList(
    files: object,
    format: 'glb2',
  ): {
    IsSuccess(): boolean;
    GetErrorCode(): string;
    FileCount(): number;
    GetFile(index: number): { GetContent(): Uint8Array };
  };
}

const load = (): Promise<Assimp> => createRequire(import.meta.url)('assimpjs')();

/**
 * Converts a model of another format to GLB with Assimp in WebAssembly, which has no access to other files.
 * `extension` names the format.
 */
export async function toGlb(
  bytes: Uint8Array,
  extension: 'obj' | 'stl' | 'ply' | 'fbx',
): Promise<Uint8Array> {
  const assimp = await loadLibrary('Assimp', load);
  const files = new assimp.FileList();
  files.AddFile(`model.${extension}`, bytes);
  const result = assimp.ConvertFileList(files, 'glb2');
  if (!result.IsSuccess() || result.FileCount() === 0) throw new BrokenFile(sentence('the model is damaged'));
  // Copies the bytes, which are in the memory of the instance.
  return Uint8Array.from(result.GetFile(0).GetContent());
}
