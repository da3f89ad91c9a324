/** The store contract on a PostgreSQL server; skipped, visibly, where none answers on localhost:5432. */
import { test } from "vitest";
import { testStore } from "./store-contract.ts";
import { isServerThere, openOnServer } from "./store-world.ts";

if (await isServerThere()) testStore("the store on a PostgreSQL server", openOnServer);
else test.skip("the store on a PostgreSQL server: none answers on localhost:5432", () => undefined);
