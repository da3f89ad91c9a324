/** What `parley doctor` says of skills and plugins: how many there are, and each that cannot be used with the reason. Reads folders only; nothing is fetched. */
import type { Config } from "../config.ts";
import { createPlugins, findSkills } from "../engine/index.ts";
import type { Finding } from "./command-line.ts";

/** Looks at the folders of skills and at installed plugins. */
export async function checkSkills(config: Config): Promise<Finding[]> {
  const { storage, baseDir, gitEnv } = config;
  try {
    const { skills, problems } = await findSkills(storage);
    const plugins = await createPlugins({ dir: storage.pluginsDir, cwd: baseDir, gitEnv }).list();
    const names = plugins.map((plugin) => plugin.name);
    const from = names.length === 0 ? "" : ` (plugins: ${names.join(", ")})`;
    return [
      { state: "ok", what: `skills: ${skills.length}${from}` },
      ...problems.map(({ where, text }): Finding => ({ state: "warning", what: `skills: ${where} ${text}` })),
    ];
  } catch (error) {
    return [{ state: "fault", what: `skills: ${error instanceof Error ? error.message : String(error)}` }];
  }
}
