/**
 * `node scripts/make-template.mjs FILE`: writes the archive of an empty database cluster that the first start unpacks.
 * Part of the build, after compiling; uses the compiled code, so that archive and reader are always of one version.
 */
import { writeFileSync } from "node:fs";
import { makeTemplate } from "../dist/engine/store/embedded-template.js";

writeFileSync(process.argv[2], await makeTemplate());
