/** The store contract on the embedded database. */
import { testStore } from "./store-contract.ts";
import { openOnEmbedded } from "./store-world.ts";

testStore("the store on the embedded database", openOnEmbedded);
