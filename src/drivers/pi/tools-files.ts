import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenRequest } from '../port.ts';
import type { ExtensionSettings } from './tools-extension.ts';

const toolsName = 'tools.json';
const loaderName = 'stemma-extension.mjs';

/** Says where the tools are now. Whoever takes a process over says it again, since it may listen elsewhere. */
export function writeToolsFile({ directory, tools }: OpenRequest): void {
  if (!tools) return;
  writeWhole(join(directory, toolsName), JSON.stringify({ url: tools.url, token: tools.token }));
}

/** Writes the extension that a new process loads, and says where it is. */
export function writeExtension(request: OpenRequest): string {
  const { directory, tools, profile } = request;
  writeToolsFile(request);
  const settings: ExtensionSettings = {
    ...(tools ? { toolsFile: join(directory, toolsName) } : {}),
    readOnly: profile.sandbox === 'readOnly',
  };
  const path = join(directory, loaderName);
  const from = JSON.stringify(fileURLToPath(new URL(extensionName, import.meta.url)));
  const text = `import { toolsExtension } from ${from};
const extension = toolsExtension(${JSON.stringify(settings)});
export { extension as default };
`;
  writeWhole(path, text);
  return path;
}

// The name as it is here: built, or from source.
const extensionName = `tools-extension.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`;

function writeWhole(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}
