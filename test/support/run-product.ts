/** The product as a process of its own, for tests that kill it: the same main function as `npm start`, from the sources. */
import { main } from "../../src/main.ts";

await main(process.argv.slice(2));
